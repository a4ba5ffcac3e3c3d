// A lab's presets as pictures, and its stories.

import { cardOf, PRESET } from "../catalogue";
import { useStudio } from "../studio";
import { ofLanguage, t } from "../words";
import { Section } from "./Section";
import { Thumbnail } from "./Thumbnail";

export function Presets({ lab }: { lab: string }) {
  const studio = useStudio();
  const card = cardOf(lab);
  if (!card || card.presets.length < 2) return null;
  return (
    <Section name="presets" title={t("Presets")}>
      {/* While its buttons cannot be reached, the list itself must be, so that keys can scroll it. */}
      <ul tabIndex={studio.ready ? undefined : 0}>
        {card.presets.map((preset) => (
          <li key={preset.name}>
            <button
              type="button"
              title={t(preset.note) || undefined}
              data-preset={preset.name}
              disabled={!studio.ready}
              onClick={() => {
                studio.story.value = null;
                studio.send({ type: "act", name: PRESET + preset.name });
              }}
            >
              {preset.thumbnail && <Thumbnail of={preset.thumbnail} />}
              <span>{t(preset.label)}</span>
            </button>
          </li>
        ))}
      </ul>
      {card.stories.map((story) => (
        <button
          key={story.name}
          type="button"
          class="plain story-title"
          disabled={!studio.ready}
          aria-pressed={studio.story.value?.name === story.name}
          onClick={() => studio.tell(story.name, 0)}
        >
          {t("Story: {}", ofLanguage(story.title))}
        </button>
      ))}
    </Section>
  );
}

/** The step of the story that is shown: its caption, and the way on and back. */
export function StoryBar({ lab }: { lab: string }) {
  const studio = useStudio();
  const now = studio.story.value;
  const story = cardOf(lab)?.stories.find((one) => one.name === now?.name);
  if (!now || !story) return null;
  const last = story.captions.length - 1;
  const step = Math.min(now.step, last);
  return (
    <section class="story" aria-label={t("Story: {}", ofLanguage(story.title))} data-step={step + 1}>
      <p aria-live="polite">
        <b>{step + 1}.</b> {ofLanguage(story.captions[step]!)}
      </p>
      <div class="row">
        <button type="button" class="plain" disabled={step === 0} onClick={() => studio.tell(story.name, step - 1)}>
          {t("Back")}
        </button>
        <button type="button" class="plain next" disabled={step === last} onClick={() => studio.tell(story.name, step + 1)}>
          {t("Next")}
        </button>
        <button type="button" class="plain" onClick={() => (studio.story.value = null)}>
          {t("End the story")}
        </button>
      </div>
    </section>
  );
}
