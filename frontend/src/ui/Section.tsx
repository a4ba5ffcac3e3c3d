import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Props {
  readonly name: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A part of the column under its heading. */
export function Section({ name, title, children }: Props) {
  const id = useId();
  return (
    <section class={name} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  );
}
