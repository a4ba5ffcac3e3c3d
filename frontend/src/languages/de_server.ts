// What the studio's server says, in German: refusals, announcements, summaries and names of what is plotted. Keys are the English
// sentences; {} stands for any text, which is translated by itself where it can be.

const SUMMARIES: Readonly<Record<string, string>> = {
  "Five unit rods between two pins. Moving freely, they follow a geodesic of the 3-sphere of configurations.":
    "Fünf Einheitsstäbe zwischen zwei Lagern. In freier Bewegung folgen sie einer Geodätischen der 3-Sphäre der Konfigurationen.",
  "Six unit rods between two pins. Moving freely, they follow a geodesic of the 4-sphere of configurations.":
    "Sechs Einheitsstäbe zwischen zwei Lagern. In freier Bewegung folgen sie einer Geodätischen der 4-Sphäre der Konfigurationen.",
  "Rods keep their lengths. Turned out of the plane, where curvature is less, other distances change.":
    "Stäbe behalten ihre Länge. Aus der Ebene gedreht, wo die Krümmung kleiner ist, ändern sich andere Abstände.",
  "{}: {} Draw a gait in the picture of shapes.": "{}: {} Zeichnen Sie einen Zug ins Bild der Formen.",
  "{} coordinate ({}), given by {}.": "{} Koordinate ({}), gegeben durch {}.",
  "{} coordinates ({}), given by {}.": "{} Koordinaten ({}), gegeben durch {}.",
  "a Lagrangian": "eine Lagrange-Funktion",
  "{} particle": "{} Teilchen",
  "{} particles": "{} Teilchen",
  "{} constraint on positions": "{} Zwangsbedingung an die Lage",
  "{} constraints on positions": "{} Zwangsbedingungen an die Lage",
  "{} constraint on velocities": "{} Zwangsbedingung an die Geschwindigkeit",
  "{} constraints on velocities": "{} Zwangsbedingungen an die Geschwindigkeit",
  "with forces": "mit Kräften",
  "{}, {}": "{}, {}",
  "{} A recorded motion.": "{} Eine aufgezeichnete Bewegung.",
};

const PRESETS: Readonly<Record<string, string>> = {
  "Its multiplier, whose error Figure 2.16 measures: −½ sinh 1 N, a pull.":
    "Ihr Multiplikator, dessen Fehler Abbildung 2.16 misst: −½ sinh 1 N, ein Zug.",
  "Figures 2.20 and 2.21: only the side across the flow is pulled.":
    "Abbildungen 2.20 und 2.21: Nur die Seite quer zum Fluss wird gezogen.",
  "Figures 2.20 and 2.21: the side across the flow pushes, ½ sin 1 N.":
    "Abbildungen 2.20 und 2.21: Die Seite quer zum Fluss drückt, ½ sin 1 N.",
  "Turned out of the plane it feels less of the curvature: the pull goes.":
    "Aus der Ebene gedreht spürt es weniger von der Krümmung: Der Zug verschwindet.",
  "Turned out of the plane: its sides stay, its medians do not.":
    "Aus der Ebene gedreht: Die Seiten bleiben, die Seitenhalbierenden nicht.",
  "With stiff springs along all edges: turning it out of the plane strains it.":
    "Mit steifen Federn an allen Kanten: Aus der Ebene gedreht verspannt es sich.",
  "They fly to one point, bounce, and meet again at the opposite one.":
    "Sie fliegen zu einem Punkt, prallen ab und treffen sich am gegenüberliegenden wieder.",
  "They meet once; in hyperbolic space they then separate for ever.":
    "Sie treffen sich einmal; im hyperbolischen Raum trennen sie sich dann für immer.",
};

const PLOTTED: Readonly<Record<string, string>> = {
  "Kinetic energy": "Kinetische Energie",
  "Potential energy": "Potentielle Energie",
  "Elastic energy": "Elastische Energie",
  "Total energy": "Gesamtenergie",
  "Springs energy": "Energie der Federn",
  "Gravity energy": "Energie der Schwere",
  "{} of the ghost": "{} des Geists",
  Angle: "Winkel",
  "Angle {}": "Winkel {}",
  "Angular velocity {}": "Winkelgeschwindigkeit {}",
  Coordinate: "Koordinate",
  Velocity: "Geschwindigkeit",
  Strain: "Dehnung",
  "Speed of {}": "Geschwindigkeit: {}",
  "Tension of {}": "Zugkraft: {}",
  "Momentum of {}": "Impuls: {}",
  "{} along x": "{}, längs x",
  "{} along y": "{}, längs y",
  "Angle of {}": "Winkel: {}",
  angle: "Winkel",
  link: "Glied",
  rod: "Stab",
  "Gaussian curvature": "Gaußsche Krümmung",
  "Kinetic energy by the second route": "Kinetische Energie auf dem zweiten Weg",
  "Distance of the two routes": "Abstand der beiden Wege",
  "Invariant of the momentum maps: boosts squared less rotations squared":
    "Invariante der Impulsabbildungen: Quadrat der Boosts minus Quadrat der Drehungen",
  "Invariant of the momentum maps: boosts times rotations": "Invariante der Impulsabbildungen: Boosts mal Drehungen",
  "Momentum of the rotation in the plane {}": "Impuls der Drehung in der Ebene {}",
  "Momentum of the translation along {}": "Impuls der Verschiebung längs {}",
  "From vertex {} to the middle of the opposite side": "Von Ecke {} zur Mitte der Gegenseite",
  "Height of the body out of the plane": "Höhe des Körpers über der Ebene",
  "Shape {}": "Form {}",
  Turn: "Drehung",
  "Body velocity, {}": "Körpergeschwindigkeit, {}",
  "Rotation about {}": "Drehung um {}",
  Power: "Leistung",
  Momentum: "Impuls",
  "Phase of the stroke": "Phase des Zugs",
  "Work of a stroke": "Arbeit eines Zugs",
  "Cost of a stroke": "Kosten eines Zugs",
  "Length of the gait": "Länge des Zugs",
  "Multiplier of constraint {}": "Multiplikator der Bedingung {}",
};

const SETTINGS: Readonly<Record<string, string>> = {
  "{} must be {}, but {} was given.": "{} muss {} liegen; gegeben war {}.",
  "between {} and {}": "zwischen {} und {}",
  "{} must be a whole number, but {} was given.": "{} muss eine ganze Zahl sein; gegeben war {}.",
  "{} must be a whole number from {} to {}, but {} was given.": "{} muss eine ganze Zahl von {} bis {} sein; gegeben war {}.",
  "{} is one of {}, but {} was given.": "{} ist eines von {}; gegeben war {}.",
  "This text may have {} characters, but has {}.": "Dieser Text darf {} Zeichen haben, hat aber {}.",
  "This lab has no {} {}.": "In diesem Labor fehlt: {} {}.",
  "This lab has no preset {}.": "Dieses Labor hat kein Beispiel {}.",
  "This lab has no button {}.": "Dieses Labor hat keinen Knopf {}.",
  "This lab has no such story.": "Diese Geschichte gibt es in diesem Labor nicht.",
  "The bodies of this lab cannot be dragged.": "Die Körper dieses Labors lassen sich nicht ziehen.",
  "There is no body {}; this lab has {}.": "Es gibt keinen Körper {}; dieses Labor hat {}.",
  "The {} cannot be held.": "Nicht zu fassen: {}.",
  "No body is held: a drag must begin on a body.": "Kein Körper wird gehalten: Ziehen muss an einem Körper beginnen.",
  "There is nothing to {}.": "Es gibt nichts zu {}.",
  undo: "widerrufen",
  redo: "wiederholen",
  parameter: "Parameter",
  choice: "Auswahl",
  switch: "Schalter",
  text: "Text",
};

const MOTION: Readonly<Record<string, string>> = {
  "The file was dropped, because the motion was changed; export it anew.":
    "Die Datei wurde verworfen, weil die Bewegung geändert wurde; exportiere sie neu.",
  "The search was dropped, because its settings were changed; start it anew.":
    "Die Suche wurde verworfen, weil ihre Einstellungen geändert wurden; starte sie neu.",
  "This takes some seconds; the result comes by itself.": "Das dauert einige Sekunden; das Ergebnis kommt von selbst.",
  "The motion begins as soon as its equations are compiled.": "Die Bewegung beginnt, sobald ihre Gleichungen übersetzt sind.",
  "The motion starts here; undo restores what was before it.": "Die Bewegung beginnt hier; Widerrufen stellt her, was davor war.",
  "A motion cannot start there: some of its numbers are not finite.":
    "Dort kann keine Bewegung beginnen: Einige ihrer Zahlen sind nicht endlich.",
  "The motion stopped at t = {} s: {}.": "Die Bewegung hielt bei t = {} s an: {}.",
  "the numbers overflowed": "die Zahlen liefen über",
  "the equations of an implicit step could not be solved": "die Gleichungen eines impliziten Schritts ließen sich nicht lösen",
  "its step failed with code {}": "ihr Schritt scheiterte mit Kennziffer {}",
  "{} Undo, reset, or choose another method or initial state.":
    "{} Widerrufen Sie, setzen Sie zurück oder wählen Sie ein anderes Verfahren oder einen anderen Anfang.",
  "The simulation ended: {}": "Die Simulation endete: {}",
  "That could not be compiled: {}": "Das ließ sich nicht übersetzen: {}",
  "The equations of motion could not be compiled: {} Load the page again to try again.":
    "Die Bewegungsgleichungen ließen sich nicht übersetzen: {} Laden Sie die Seite neu, um es noch einmal zu versuchen.",
  "The file could not be written: {}": "Die Datei konnte nicht geschrieben werden: {}",
  "This lab has no Python program to export.": "Dieses Labor hat kein Python-Programm zum Exportieren.",
  "This lab has no scene file to export.": "Dieses Labor hat keine Szenendatei zum Exportieren.",
  "A to B: length {} in the kinetic metric": "A nach B: Länge {} in der kinetischen Metrik",
};

const LINKS: Readonly<Record<string, string>> = {
  "The link's state cannot be read: it is not a document of the studio.":
    "Der Zustand des Links ist nicht lesbar: Er ist kein Dokument des Studios.",
  "The link's state is of another version of the studio and cannot be opened here.":
    "Der Zustand des Links stammt aus einer anderen Version des Studios und lässt sich hier nicht öffnen.",
  "The link's state belongs to another lab than {}.": "Der Zustand des Links gehört zu einem anderen Labor als {}.",
  "The link's state has a speed or a time out of range.": "Tempo oder Zeit im Zustand des Links liegen außerhalb ihres Bereichs.",
  "The link's state has a ghost without coordinates and velocities.":
    "Der Geist im Zustand des Links hat keine Koordinaten und Geschwindigkeiten.",
  "The link's state has no readable {}.": "Im Zustand des Links ist nicht lesbar: {}.",
  "The link's state has {} of the wrong type.": "Im Zustand des Links ist von falscher Art: {}.",
  "The link's state has settings that this lab does not know.": "Der Zustand des Links hat Einstellungen, die dieses Labor nicht kennt.",
  "The link's state has parameters that this lab does not know.": "Der Zustand des Links hat Parameter, die dieses Labor nicht kennt.",
  "The link's state must have {} coordinates and as many velocities.":
    "Der Zustand des Links muss {} Koordinaten und ebenso viele Geschwindigkeiten haben.",
  "The link's state has a {} that is not a number the studio can use.": "Im Zustand des Links ist keine brauchbare Zahl: {}.",
  "The link's state is no configuration of the linkage.": "Der Zustand des Links ist keine Konfiguration des Gestänges.",
  "The link's state has a phase of the stroke that is not between 0 and 1.":
    "Die Phase des Zugs im Zustand des Links liegt nicht zwischen 0 und 1.",
  "The link's state is no rotation.": "Der Zustand des Links ist keine Drehung.",
};

const LABS: Readonly<Record<string, string>> = {
  "An implicit method is too slow for {} links; with more than {}, choose Runge–Kutta 4 or explicit Euler.":
    "Ein implizites Verfahren ist für {} Glieder zu langsam; wählen Sie bei mehr als {} Runge–Kutta 4 oder den expliziten Euler.",
  "A scene file has no air drag; set it to zero, or export the Python program.":
    "Eine Szenendatei hat keinen Luftwiderstand; setzen Sie ihn auf null oder exportieren Sie das Python-Programm.",
  "A scene file holds up to {} links; export the Python program for {}.":
    "Eine Szenendatei fasst bis zu {} Glieder; exportieren Sie für {} das Python-Programm.",
  "Rods and hinges cannot both be without mass: the kinetic energy would be zero.":
    "Stäbe und Gelenke können nicht beide ohne Masse sein: Die kinetische Energie wäre null.",
  "Mark two different configurations first; then there is a shortest motion between them.":
    "Markieren Sie erst zwei verschiedene Konfigurationen; dann gibt es zwischen ihnen eine kürzeste Bewegung.",
  "The mark {} is no point of the sphere.": "Die Marke {} ist kein Punkt der Kugel.",
  "A scene file cannot describe a linkage's sphere; export the Python program instead.":
    "Eine Szenendatei kann die Kugel eines Gestänges nicht beschreiben; exportieren Sie das Python-Programm.",
  "A tetrahedron needs a space of three dimensions; choose another body first, or such a space.":
    "Ein Tetraeder braucht einen Raum von drei Dimensionen; wählen Sie erst einen anderen Körper oder einen solchen Raum.",
  "The potential of gravity is known in E, S and H only; choose one of these spaces or an elastic body.":
    "Das Potential der Schwere ist nur in E, S und H bekannt; wählen Sie einen dieser Räume oder einen elastischen Körper.",
  "Balls collide in E, S and H only; choose one of these spaces or another body.":
    "Kugeln stoßen nur in E, S und H; wählen Sie einen dieser Räume oder einen anderen Körper.",
  "A body of {} m does not fit on a sphere of radius {} m: its size may be {} radii, here {} m.":
    "Ein Körper von {} m passt nicht auf eine Kugel vom Radius {} m: Er darf {} Radien groß sein, hier {} m.",
  "Take hold of a vertex in the other picture; this one moves with the body.":
    "Fassen Sie eine Ecke im anderen Bild; dieses bewegt sich mit dem Körper.",
  "That place is too far away.": "Dieser Ort ist zu weit entfernt.",
  "Another ball is there.": "Dort ist schon eine Kugel.",
  "A scene file cannot describe bodies in a curved space; export the Python program instead.":
    "Eine Szenendatei kann Körper im gekrümmten Raum nicht beschreiben; exportieren Sie das Python-Programm.",
  "Rods need a space whose geodesics are known in closed form; choose springs first.":
    "Stäbe brauchen einen Raum mit geschlossen bekannten Geodätischen; wählen Sie erst Federn.",
  "Rods along all edges of this body would contradict each other as it moves; choose springs first.":
    "Stäbe an allen Kanten dieses Körpers widersprächen einander in der Bewegung; wählen Sie erst Federn.",
  "{} balls of radius {} m within {} m overlap by {} m: make them smaller or fewer, or the body larger.":
    "{} Kugeln vom Radius {} m in {} m überlappen um {} m: Nehmen Sie kleinere oder weniger, oder einen größeren Körper.",
  "The gait passes shapes that this mover cannot take{}.": "Der Zug durchläuft Formen, die dieser Körper nicht annehmen kann{}.",
  "The gait cannot be read: it is a list of points [[x, y], …].": "Der Zug ist nicht lesbar: Er ist eine Liste von Punkten [[x, y], …].",
  "The gait is a list of points [[x, y], …] with two numbers each.": "Der Zug ist eine Liste von Punkten [[x, y], …] mit je zwei Zahlen.",
  "The gait has a point beyond {}; draw it inside the picture.": "Der Zug hat einen Punkt jenseits von {}; zeichnen Sie ihn ins Bild.",
  "A gait needs at least two different points.": "Ein Zug braucht mindestens zwei verschiedene Punkte.",
  "A stroke is not the motion of a system with forces; export the table (CSV) or Python instead.":
    "Ein Zug ist nicht die Bewegung eines Systems mit Kräften; exportieren Sie die Tabelle (CSV) oder Python.",
  "A scene file cannot describe a gait; export the Python program instead.":
    "Eine Szenendatei kann keinen Zug beschreiben; exportieren Sie das Python-Programm.",
  "The search is for gaits without turns or momentum, with a displacement in a plane or line.":
    "Gesucht werden Züge ohne Drehung und Impuls, mit einer Verschiebung in einer Ebene oder Geraden.",
  "The search is for movers with two shape variables; choose a chain of three links.":
    "Gesucht wird für Körper mit zwei Formvariablen; wählen Sie eine Kette aus drei Gliedern.",
};

const WORKBENCH: Readonly<Record<string, string>> = {
  "There are no coordinates yet: type their names, such as theta angle, r length.":
    "Es gibt noch keine Koordinaten: Tippen Sie ihre Namen, etwa theta angle, r length.",
  "There is no system yet: type a Lagrangian, or positions with masses.":
    "Es gibt noch kein System: Tippen Sie eine Lagrange-Funktion oder Orte mit Massen.",
  "Beside a Lagrangian, positions are only drawn: leave this empty, or the Lagrangian.":
    "Neben einer Lagrange-Funktion werden Orte nur gezeichnet: Lassen Sie dies leer oder die Lagrange-Funktion.",
  "Without a Lagrangian, the particles need masses, one for each.": "Ohne Lagrange-Funktion brauchen die Teilchen Massen, je eine.",
  '"{}" is no {}: names begin with a letter and have letters, digits and single underscores.':
    "„{}“ ist kein Name ({}): Namen beginnen mit einem Buchstaben und haben Buchstaben, Ziffern und einzelne Unterstriche.",
  'The coordinate "{}" is named twice.': "Die Koordinate „{}“ ist zweimal genannt.",
  'There is no kind of coordinate "{}"{}': "Es gibt keine Art von Koordinate „{}“{}",
  "The lab moves at most {} coordinates; run larger scenes from Python.":
    "Das Labor bewegt höchstens {} Koordinaten; größere Szenen laufen in Python.",
  "A point has 1, 2 or 3 formulas, separated by commas.": "Ein Punkt hat 1, 2 oder 3 Formeln, durch Kommas getrennt.",
  'This is written with "=", such as {} = …, one on each line.': "Das schreibt man mit „=“, etwa {} = …, je eines auf einer Zeile.",
  'The name "{}" is given twice.': "Der Name „{}“ ist zweimal vergeben.",
  'There is no formula after "=".': "Nach „=“ steht keine Formel.",
  'A second "=" stands here; separate the entries by commas or lines.':
    "Hier steht ein zweites „=“; trennen Sie die Einträge durch Kommas oder Zeilen.",
  "A wall (an inequality) is for scene files; here a constraint is an equation.":
    "Eine Wand (eine Ungleichung) gehört in Szenendateien; hier ist eine Zwangsbedingung eine Gleichung.",
  'A side of this equation is empty; "= 0" may be left out.': "Eine Seite dieser Gleichung ist leer; „= 0“ darf fehlen.",
  'There is no coordinate or rate "{}"{}': "Es gibt keine Koordinate oder Rate „{}“{}",
  "A line is written as two numbers of points, such as 0-1; 0 is the origin.":
    "Eine Strecke schreibt man als zwei Nummern von Punkten, etwa 0-1; 0 ist der Ursprung.",
  "A line joins two different points out of 0 (the origin) to {}.":
    "Eine Strecke verbindet zwei verschiedene Punkte von 0 (dem Ursprung) bis {}.",
  "RATTLE is for systems with constraints on positions, and this one has none.":
    "RATTLE ist für Systeme mit Zwangsbedingungen an die Lage, und dieses hat keine.",
  "With constraints on positions and on velocities, choose RK4.":
    "Wählen Sie RK4, wenn es Zwangsbedingungen an Lage und Geschwindigkeit gibt.",
  "No state near this one satisfies the constraints: they contradict each other, or it is too far away from them.":
    "Kein Zustand in der Nähe erfüllt die Zwangsbedingungen: Sie widersprechen sich, oder er liegt zu weit von ihnen entfernt.",
  "The constraints contradict each other: no acceleration keeps all of them.":
    "Die Zwangsbedingungen widersprechen sich: Keine Beschleunigung hält alle ein.",
  "The constraints restrict no motion there: their derivatives all vanish. Write f = 0, not f² = 0.":
    "Die Zwangsbedingungen schränken dort keine Bewegung ein: Ihre Ableitungen verschwinden alle. Schreibe f = 0, nicht f² = 0.",
  "The constraints or their derivatives have no value there.": "Die Zwangsbedingungen oder ihre Ableitungen haben dort keinen Wert.",
  "The energy has no finite value there: start elsewhere, or give other numbers.":
    "Die Energie hat dort keinen endlichen Wert: Beginne anderswo, oder gib andere Zahlen an.",
  "The kinetic energy has no finite value there: start elsewhere, or give other numbers.":
    "Die kinetische Energie hat dort keinen endlichen Wert: Beginne anderswo, oder gib andere Zahlen an.",
  "The kinetic energy does not depend on some velocities there, so that their accelerations are not determined: a mass is zero, or the coordinates break down, as angles do at a pole.":
    "Die kinetische Energie hängt dort von manchen Geschwindigkeiten nicht ab, sodass deren Beschleunigungen nicht bestimmt sind: Eine Masse ist null, oder die Koordinaten versagen dort, wie Winkel an einem Pol.",
  "Some velocities have negative kinetic energy: a mass is negative, or a sign is wrong (a Lagrangian is kinetic minus potential energy).":
    "Manche Geschwindigkeiten haben negative kinetische Energie: Eine Masse ist negativ, oder ein Vorzeichen ist falsch (die Lagrangefunktion ist kinetische minus potentielle Energie).",
  "This method cannot hold constraints on {}; choose RK4.": "Dieses Verfahren kann Zwangsbedingungen an {} nicht einhalten; wähle RK4.",
  positions: "Orte",
  velocities: "Geschwindigkeiten",
  "There is no motion of these settings: correct what is marked, or undo.":
    "Zu diesen Einstellungen gibt es keine Bewegung: Berichtige, was markiert ist, oder mache es rückgängig.",
  "The equations of motion of this were not compiled, because that was cancelled.":
    "Die Bewegungsgleichungen dazu wurden nicht übersetzt, weil das abgebrochen wurde.",
  "The start violates the constraints; the nearest: {}.": "Der Anfang verletzt die Zwangsbedingungen; am nächsten liegt: {}.",
  "The kinetic energy does not depend on some velocities (of {}), so that their accelerations are not determined. Add their kinetic energy, or leave the coordinate out.":
    "Die kinetische Energie hängt von einigen Geschwindigkeiten nicht ab (von {}), sodass deren Beschleunigungen nicht bestimmt sind. Fügen Sie ihre kinetische Energie hinzu oder lassen Sie die Koordinate weg.",
};

export const SERVER_GERMAN: Readonly<Record<string, string>> = {
  ...SUMMARIES,
  ...PRESETS,
  ...PLOTTED,
  ...SETTINGS,
  ...MOTION,
  ...LINKS,
  ...LABS,
  ...WORKBENCH,
};
