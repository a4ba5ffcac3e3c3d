// A state in a link: UTF-8, base64 with the two letters that addresses do not mind, no padding.

export function toLink(text: string): string {
  const bytes = new TextEncoder().encode(text);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The text in a link; null when it was cut or changed on the way. */
export function fromLink(code: string): string | null {
  try {
    const binary = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.from(binary, (c) => c.charCodeAt(0)));
  } catch {
    return null;
  }
}

/** What a page's address asks for: `#/pendulum?s=…` names a lab and a state in it; both may be missing. */
export function readFragment(hash: string): { lab: string; state: string | null } {
  const match = /^#\/([a-z-]+)(?:\?s=([A-Za-z0-9_-]+))?$/.exec(hash);
  return { lab: match?.[1] ?? "", state: match?.[2] ?? null };
}

export function writeFragment(lab: string, document: string): string {
  return `#/${lab}?s=${toLink(document)}`;
}

/** The numbers in a text of base64: little-endian float32, as the server packs arrays into a notice. */
export function toFloats(code: string): Float32Array {
  const bytes = Uint8Array.from(atob(code), (c) => c.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}
