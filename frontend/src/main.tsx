// The studio as a page of its own, with the Python process that served it.

import { render } from "preact";
import { fetchCatalogue } from "./catalogue";
import "./styles";
import "./page.css";
import { applyPreferences } from "./preferences";
import { App } from "./ui/App";

const place = document.getElementById("studio")!;
place.classList.add("holonomy");
applyPreferences(document.documentElement);
void fetchCatalogue();
render(<App />, place);
