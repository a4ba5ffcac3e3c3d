// Written by `python -m holonomy.viewer.palette`. Edit that file.

export interface Palette {
  readonly paper: string;
  readonly margin: string;
  readonly line: string;
  readonly ink: string;
  readonly faint: string;
  readonly accent: string;
  readonly warning: string;
  readonly grid: string;
  readonly rod: string;
  readonly on_map: string;
  readonly bodies: readonly string[];
  readonly energies: readonly string[];
}

export const LIGHT: Palette = {
  paper: "#fdfcf8",
  margin: "#f5f3ec",
  line: "#dedbd1",
  ink: "#1c1d20",
  faint: "#5f6166",
  accent: "#0069a5",
  warning: "#a84300",
  grid: "#e9e7df",
  rod: "#4b4d52",
  on_map: "#1c1d20",
  bodies: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"],
  energies: ["#e69f00", "#009e73", "#cc79a7", "#0072b2"],
};

export const DARK: Palette = {
  paper: "#15171a",
  margin: "#1b1e22",
  line: "#363a40",
  ink: "#eceae4",
  faint: "#a2a4a8",
  accent: "#56b4e9",
  warning: "#e69f00",
  grid: "#26292d",
  rod: "#b4b6ba",
  on_map: "#1c1d20",
  bodies: ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2"],
  energies: ["#e69f00", "#2bbd93", "#cc79a7", "#56b4e9"],
};
