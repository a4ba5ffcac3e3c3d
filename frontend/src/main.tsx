// The studio as a page of its own, with the Python process that served it.

import { fromLink, readFragment } from "./encode";
import { mount } from "./mount";
import "./page.css";
import { Socket } from "./socket";

const { lab, state } = readFragment(location.hash);
window.addEventListener("hashchange", () => location.reload()); // another lab or state is another page
// A link that cannot be read goes to the studio as it is, which then says what is wrong with it.
const asked = state === null ? null : (fromLink(state) ?? state);
mount(document.getElementById("studio")!, new Socket(lab), { document: asked, keys: document });
