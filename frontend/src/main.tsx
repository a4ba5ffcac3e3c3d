import { render } from "preact";
import { listen } from "./keyboard";
import "./style.css";
import { App } from "./ui/App";

listen(document);
window.addEventListener("hashchange", () => location.reload()); // another lab is another page
render(<App />, document.getElementById("studio")!);
