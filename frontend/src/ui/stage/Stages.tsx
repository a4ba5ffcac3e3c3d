// The lab's pictures side by side, each by the component that its kind asks for.

import type { ComponentType } from "preact";
import { useStudio } from "../../studio";
import type { LabView, PictureView } from "../../wire";
import { FormulaPanel } from "../Equations";
import { FieldStage } from "./FieldStage";
import { PlaneStage } from "./PlaneStage";
import { SpaceStage } from "./SpaceStage";
import { SurfaceStage } from "./SurfaceStage";

export interface StageProps {
  readonly view: LabView;
  /** Which of the lab's pictures this is. */
  readonly picture: number;
}

const KINDS: Record<PictureView["kind"], ComponentType<StageProps>> = {
  plane: PlaneStage,
  space: SpaceStage,
  surface: SurfaceStage,
  field: FieldStage,
};

export function Stages() {
  const view = useStudio().lab.value;
  if (!view || view.pictures.length === 0) return null;
  return (
    <main class="stages" data-count={view.pictures.length}>
      {view.pictures.map((picture, index) => {
        const Stage = KINDS[picture.kind];
        return <Stage key={picture.name} view={view} picture={index} />;
      })}
      <FormulaPanel />
    </main>
  );
}
