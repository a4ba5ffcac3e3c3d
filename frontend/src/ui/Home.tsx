// The page before any lab: a card for each, with its opening motion and a sentence.

import { catalogue } from "../catalogue";
import { t } from "../words";
import { Thumbnail } from "./Thumbnail";
import { ViewMenu } from "./ViewMenu";

export function Home() {
  const labs = catalogue.value?.labs;
  return (
    <main class="home" data-home>
      <header>
        <div>
          <h1>Holonomy</h1>
          <p>{t("Mechanics to touch, computed by Python while you watch. Choose a lab.")}</p>
        </div>
        <ViewMenu />
      </header>
      {labs ? (
        <ul class="cards">
          {labs.map((lab) => (
            <li key={lab.name}>
              <a class="card" href={`#/${lab.name}`} data-lab={lab.name}>
                {lab.presets[0]?.thumbnail && <Thumbnail of={lab.presets[0].thumbnail} always />}
                <h2>{t(lab.title)}</h2>
                <p>{t(lab.sentence)}</p>
              </a>
            </li>
          ))}
        </ul>
      ) : (
        <p role="status">{t("Connecting to the studio.")}</p>
      )}
    </main>
  );
}
