// Signs, drawn here so that none has to be fetched.

const PATHS = {
  play: "M8 5v14l11-7z",
  pause: "M7 5h3.5v14H7zM13.5 5H17v14h-3.5z",
  back: "M6 5h2.5v14H6zM19 5v14l-9-7z",
  forward: "M15.5 5H18v14h-2.5zM5 5v14l9-7z",
  undo: "M9.5 5 4 10.2l5.5 5.2v-3.6h4.2a3.3 3.3 0 0 1 0 6.6H9v2.2h4.7a5.5 5.5 0 0 0 0-11H9.5z",
  redo: "M14.5 5 20 10.2l-5.5 5.2v-3.6h-4.2a3.3 3.3 0 0 0 0 6.6H15v2.2h-4.7a5.5 5.5 0 0 1 0-11h4.2z",
  reset: "M12 5V1.8L6.8 6.4 12 11V7.4a5.3 5.3 0 1 1-5.3 5.3H4.3A7.7 7.7 0 1 0 12 5z",
  enlarge: "M5 5h6v2H8.4l3.3 3.3-1.4 1.4L7 8.4V11H5zM13 17h2.6l-3.3-3.3 1.4-1.4 3.3 3.3V13h2v6h-6z",
  plus: "M11 5h2v6h6v2h-6v6h-2v-6H5v-2h6z",
  minus: "M5 11h14v2H5z",
  fit: "M4 4h6v2H6v4H4zM14 4h6v6h-2V6h-4zM4 14h2v4h4v2H4zM18 14h2v6h-6v-2h4zM9.5 9.5h5v5h-5z",
  follow:
    "M11 2h2v3.1A7 7 0 0 1 18.9 11H22v2h-3.1A7 7 0 0 1 13 18.9V22h-2v-3.1A7 7 0 0 1 5.1 13H2v-2h3.1A7 7 0 0 1 11 5.1zM12 7a5 5 0 1 0 0 10 5 5 0 0 0 0-10zm0 3a2 2 0 1 1 0 4 2 2 0 0 1 0-4z",
  close: "m6.4 5 5.6 5.6L17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4-5.6-5.6L6.4 19 5 17.6l5.6-5.6L5 6.4z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} fill="currentColor" />
    </svg>
  );
}
