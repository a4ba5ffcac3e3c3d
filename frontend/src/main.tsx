import { render } from "preact";
import { listen } from "./keyboard";
import "./style.css";
import { App } from "./ui/App";

listen(document);
render(<App />, document.getElementById("studio")!);
