import { render } from "preact";

const root = document.getElementById("studio");
if (root) render(<main>Holonomy studio</main>, root);
