// The motion as a tone, where the user wants one.

import { useEffect, useRef, useState } from "preact/hooks";
import { Tone } from "../sound";
import { useStudio } from "../studio";
import { FrameFlag, type LabView } from "../wire";
import { t, translated } from "../words";

export function Sound({ view }: { view: LabView }) {
  const studio = useStudio();
  const root = useRef<HTMLDivElement>(null);
  const [on, setOn] = useState(false);
  const names = view.channels.map((channel) => channel.name);
  const chosen = studio.layout.value.sound ?? { pitch: names[view.energies.length] ?? names[0] ?? "", loudness: names[0] ?? "" };
  const [pitch, loudness] = [names.indexOf(chosen.pitch), names.indexOf(chosen.loudness)];

  useEffect(() => {
    if (!on) return;
    const tone = new Tone();
    const place = root.current!;
    const stop = studio.onFrame((frame) => {
      const playing = (frame.flags & FrameFlag.PLAYING) !== 0;
      const { hertz } = tone.follow(frame.channel[pitch] ?? NaN, frame.channel[loudness] ?? NaN, playing);
      place.dataset.hertz = hertz.toFixed(1);
    });
    return () => {
      stop();
      tone.stop();
      delete place.dataset.hertz;
    };
  }, [on, pitch, loudness]);

  if (names.length === 0 || typeof AudioContext === "undefined") return null;
  const list = (what: "pitch" | "loudness", name: string) => (
    <label>
      {name}{" "}
      <select value={chosen[what]} onChange={(event) => studio.arrange({ sound: { ...chosen, [what]: event.currentTarget.value } })}>
        {view.channels.map((channel) => (
          <option key={channel.name} value={channel.name}>
            {channel.symbol || translated(channel.label)}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <div class="sound" ref={root}>
      <label>
        <input type="checkbox" checked={on} onChange={(event) => setOn(event.currentTarget.checked)} /> {t("Sound")}
      </label>
      {on && list("pitch", t("pitch"))}
      {on && list("loudness", t("loudness"))}
    </div>
  );
}
