// All style sheets, in the order in which later ones override earlier ones.

import "./palette.css";
import "./style.css";
import "./views.css";
import "./ui/compiling.css";
import "./plots.css";
import "./home.css";
import "./sizes.css";
