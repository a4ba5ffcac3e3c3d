// The labs in German: labels, options and notes. Keys are the English words; {} stands for a number.

const SHARED: Readonly<Record<string, string>> = {
  Work: "Arbeit",
  bob: "Masse",
  "ghost of bob": "Geist der Masse",
  body: "Körper",
  "Killing field at the start": "Killing-Feld am Anfang",
  "64 steps per frame, for many links.": "64 Schritte je Bild, für viele Glieder.",
  "64 steps per frame, for fast motions.": "64 Schritte je Bild, für schnelle Bewegungen.",
  "16 steps per frame.": "16 Schritte je Bild.",
  "16 steps per frame: errors too small to see with all but Euler's methods.":
    "16 Schritte je Bild: außer bei Euler sind die Fehler zu klein, um sie zu sehen.",
  "4 steps per frame.": "4 Schritte je Bild.",
  "4 steps per frame, for large systems.": "4 Schritte je Bild, für große Systeme.",
  "1 step per frame: shows the errors of each method.": "1 Schritt je Bild: zeigt die Fehler jedes Verfahrens.",
  "1 step per frame: shows the error of each method.": "1 Schritt je Bild: zeigt den Fehler jedes Verfahrens.",
  None: "Keine",
};

const PENDULUM: Readonly<Record<string, string>> = {
  "{} masses on rigid, massless rods, each hung from the one before.": "{} Massen an starren, masselosen Stäben, eine an der anderen.",
  "{} masses on massless springs, each hung from the one before.": "{} Massen an masselosen Federn, eine an der anderen.",
  "One mass on a rigid, massless rod.": "Eine Masse an einem starren, masselosen Stab.",
  "One mass on a massless spring.": "Eine Masse an einer masselosen Feder.",
  "The same pendulum, computed by Gauss's method and, faded, by Euler's, which gains energy until it explodes.":
    "Dasselbe Pendel nach Gauß und, blass, nach Euler, der Energie gewinnt, bis alles explodiert.",
  "Let it run, then drag the line of time back: every bit comes back.":
    "Lassen Sie es laufen und ziehen Sie die Zeitleiste zurück: Jedes Bit kommt wieder.",
  "Runge–Kutta": "Runge–Kutta",
  "Order 4, explicit, for any number of links; the energy drifts slowly.":
    "Ordnung 4, explizit, für beliebig viele Glieder; die Energie driftet langsam.",
  "Order 4, symplectic and reversible: the energy error stays small.":
    "Ordnung 4, symplektisch und umkehrbar: Der Energiefehler bleibt klein.",
  "Order 6, symplectic and reversible.": "Ordnung 6, symplektisch und umkehrbar.",
  "Order 1, symplectic: inaccurate, but the energy error stays bounded.":
    "Ordnung 1, symplektisch: ungenau, aber der Energiefehler bleibt beschränkt.",
  "Order 1; the energy grows without bound.": "Ordnung 1; die Energie wächst ohne Grenze.",
  "The ghost is computed as the pendulum is.": "Der Geist wird wie das Pendel gerechnet.",
  Angles: "Winkel",
  "Angular velocities": "Winkelgeschwindigkeiten",
  Speeds: "Geschwindigkeiten",
  Tensions: "Zugkräfte",
  Momenta: "Impulse",
  "Momenta along x": "Impulse längs x",
  "Momenta along y": "Impulse längs y",
  Strains: "Dehnungen",
  "Energy of the ghost": "Energie des Geists",
  "Angles of the ghost": "Winkel des Geists",
  "Angular velocities of the ghost": "Winkelgeschwindigkeiten des Geists",
  Divergence: "Auseinanderlaufen",
  "Lyapunov exponent": "Ljapunow-Exponent",
};

const LINKAGE: Readonly<Record<string, string>> = {
  "A free motion that comes everywhere on the sphere.": "Eine freie Bewegung, die überall auf der Kugel hinkommt.",
  "Geodesics from one point in all directions come together again.":
    "Geodätische von einem Punkt in alle Richtungen kommen wieder zusammen.",
  "Beyond them neighbouring geodesics cross, and none is the shortest.":
    "Hinter ihnen kreuzen sich benachbarte Geodätische, und keine ist die kürzeste.",
  "Where K < 0 geodesics spread faster than in a plane.": "Wo K < 0 ist, laufen Geodätische schneller auseinander als in der Ebene.",
  "The angles φ and t break down at their pole; the point of the sphere does not.":
    "Die Winkel φ und t versagen an ihrem Pol; der Punkt der Kugel nicht.",
  "Four unit rods between two pins. Moving freely, they follow a geodesic of the sphere of configurations.":
    "Vier Stäbe der Länge 1 zwischen zwei Lagern. Frei bewegt, folgen sie einer Geodätischen der Kugel der Konfigurationen.",
  Linkage: "Gelenkwerk",
  "Sphere of configurations": "Kugel der Konfigurationen",
  "Gaussian curvature of the kinetic metric.": "Gaußsche Krümmung der kinetischen Metrik.",
  "Total bending of the sphere in the space of hinges.": "Gesamte Biegung der Kugel im Raum der Gelenke.",
  "A motion that comes everywhere on the sphere.": "Eine Bewegung, die überall auf der Kugel hinkommt.",
  "Geodesics from here come together again, for a base of 3.": "Geodätische von hier kommen wieder zusammen, bei einer Basis von 3.",
  "Geodesics from here cross, for a base of 3.5.": "Geodätische von hier kreuzen sich, bei einer Basis von 3,5.",
  "K < 0 here, for a short base.": "Hier ist K < 0, bei kurzer Basis.",
  "Passes near the pole of the angles φ and t, for a base of 3.": "Führt nahe am Pol der Winkel φ und t vorbei, bei einer Basis von 3.",
  "The motion on the sphere alone.": "Nur die Bewegung auf der Kugel.",
  "Christoffel symbols in the angles, which are singular at the poles.":
    "Christoffel-Symbole in den Winkeln, die an den Polen singulär sind.",
  "Every hinge accelerates by II(v, v), normal to the sphere of configurations.":
    "Jedes Gelenk wird mit II(v, v) beschleunigt, senkrecht zur Kugel der Konfigurationen.",
  "Hinges as particles connected by rods: constraints with multipliers.":
    "Gelenke als Teilchen, die Stäbe verbinden: Zwangsbedingungen mit Multiplikatoren.",
  "Geodesics in all directions from where the motion began.": "Geodätische in alle Richtungen von dort, wo die Bewegung begann.",
  "The shortest motion goes from A to B.": "Die kürzeste Bewegung führt von A nach B.",
  hinge: "Gelenk",
  point: "Punkt",
  "second hinge": "zweites Gelenk",
  "second point": "zweiter Punkt",
  Point: "Punkt",
  "Velocity of the point": "Geschwindigkeit des Punkts",
  "Rod tensions": "Zugkräfte der Stäbe",
  Bending: "Biegung",
  "Bending of the path": "Biegung des Wegs",
  "Force of the rods": "Kraft der Stäbe",
  "Angles of rods": "Winkel der Stäbe",
  Curvature: "Krümmung",
};

const CURVED: Readonly<Record<string, string>> = {
  "Elastic bodies and gravity on spheres, in hyperbolic and in other spaces: curvature strains a body.":
    "Elastische Körper und Schwerkraft auf Sphären, in hyperbolischen und anderen Räumen: Krümmung dehnt einen Körper.",
  "Drag a vertex: the body then starts at rest": "Ziehen Sie eine Ecke: Der Körper beginnt dann in Ruhe",
  "Rod in H³": "Stab in H³",
  "Thesis, Figure 2.13: across a translation the rod is stretched.":
    "Dissertation, Abbildung 2.13: Quer zu einer Verschiebung wird der Stab gedehnt.",
  "Rod in S³": "Stab in S³",
  "The motion whose error Figure 2.14 measures: here the rod is pressed.":
    "Die Bewegung, deren Fehler Abbildung 2.14 misst: Hier wird der Stab gedrückt.",
  "Rod far out in H³": "Stab weit draußen in H³",
  "Figure 2.15 follows it to t = 20, 15 radii away; the second picture keeps it in sight.":
    "Abbildung 2.15 folgt ihm bis t = 20, 15 Radien weit; das zweite Bild behält ihn im Blick.",
  "Triangle in H³": "Dreieck in H³",
  "Thesis, Figure 2.17: its sides.": "Dissertation, Abbildung 2.17: seine Seiten.",
  "Triangle in S³": "Dreieck in S³",
  "The motion whose error Figure 2.18 measures.": "Die Bewegung, deren Fehler Abbildung 2.18 misst.",
  "Triangle far out in H³": "Dreieck weit draußen in H³",
  "Figure 2.19 follows it to t = 20.": "Abbildung 2.19 folgt ihm bis t = 20.",
  Detector: "Detektor",
  "A spring pair crosses the curved region at t = 14.25 and rings afterwards.":
    "Ein Federpaar durchquert das gekrümmte Gebiet bei t = 14,25 und schwingt danach.",
  "Kepler in S³": "Kepler in S³",
  "The potential −cot r: orbits close.": "Das Potential −cot r: Die Bahnen schließen sich.",
  "Kepler in H³": "Kepler in H³",
  "The potential −coth r: orbits close.": "Das Potential −coth r: Die Bahnen schließen sich.",
  "Geodesic deviation in S²": "Geodätische Abweichung in S²",
  "Two free masses start side by side and meet.": "Zwei freie Massen beginnen nebeneinander und treffen sich.",
  "Geodesic deviation in E²": "Geodätische Abweichung in E²",
  "Two free masses start side by side and stay so.": "Zwei freie Massen beginnen nebeneinander und bleiben es.",
  "Geodesic deviation in H²": "Geodätische Abweichung in H²",
  "Two free masses start side by side and separate.": "Zwei freie Massen beginnen nebeneinander und entfernen sich.",
  "Cube in H² × E": "Würfel in H² × E",
  "A rotation that is an isometry of the plane, and a translation along the line.":
    "Eine Drehung, die eine Isometrie der Ebene ist, und eine Verschiebung längs der Geraden.",
  "Pair in S²": "Paar in S²",
  "Two masses attract each other; no centre of mass moves freely.": "Zwei Massen ziehen sich an; kein Schwerpunkt bewegt sich frei.",
  "Negative curvature: lines that start side by side separate, and a moving body is stretched.":
    "Negative Krümmung: Geraden, die nebeneinander beginnen, entfernen sich, und ein bewegter Körper wird gedehnt.",
  "Positive curvature: lines that start side by side approach each other, and a moving body is pressed.":
    "Positive Krümmung: Geraden, die nebeneinander beginnen, nähern sich, und ein bewegter Körper wird gedrückt.",
  "Curved most around the origin: a body that drifts through is stretched there.":
    "Am stärksten um den Ursprung gekrümmt: Ein Körper, der hindurchtreibt, wird dort gedehnt.",
  "A mass around a fixed centre: all bounded orbits are closed.":
    "Eine Masse um ein festes Zentrum: Alle beschränkten Bahnen sind geschlossen.",
  "Flat space: a translation moves all points alike, and the body keeps its shape.":
    "Flacher Raum: Eine Verschiebung bewegt alle Punkte gleich, und der Körper behält seine Form.",
  "A hyperbolic plane times a line: only what moves along the plane feels curvature.":
    "Eine hyperbolische Ebene mal eine Gerade: Nur was sich längs der Ebene bewegt, spürt Krümmung.",
  "Two masses that attract each other. In curved space their centre does not move along a geodesic.":
    "Zwei Massen, die sich anziehen. Im gekrümmten Raum bewegt sich ihr Schwerpunkt nicht auf einer Geodätischen.",
  "Poincaré ball of H³": "Poincaré-Kugel von H³",
  "Klein ball of H³": "Klein-Kugel von H³",
  "Half-space model of H³": "Halbraummodell von H³",
  "Poincaré disc of H²": "Poincaré-Scheibe von H²",
  "Poincaré cylinder of H² × E": "Poincaré-Zylinder von H² × E",
  "Stereographic projection of S³": "Stereographische Projektion von S³",
  "Coordinates of the space": "Koordinaten des Raums",
  "The sphere S²": "Die Sphäre S²",
  "Euclidean space E²": "Euklidischer Raum E²",
  "Euclidean space E³": "Euklidischer Raum E³",
  "Seen from its centre": "Von seiner Mitte aus gesehen",
  Space: "Raum",
  Body: "Körper",
  Model: "Modell",
  "Radius of curvature": "Krümmungsradius",
  "Size of the body": "Größe des Körpers",
  "Rest length over length at the start": "Ruhelänge durch Länge am Anfang",
  "Mass of each vertex": "Masse jeder Ecke",
  "Translation along x": "Verschiebung längs x",
  "Translation along z": "Verschiebung längs z",
  "Rotation about z": "Drehung um z",
  "Rotation about x": "Drehung um x",
  "Place at the start": "Ort am Anfang",
  "Gravity, in m³/(kg s²)": "Schwerkraft, in m³/(kg s²)",
  Distance: "Abstand",
  "Angular velocity at the start": "Winkelgeschwindigkeit am Anfang",
  Inhomogeneous: "Inhomogen",
  Rod: "Stab",
  "Two masses and a spring across the direction of the translation.": "Zwei Massen und eine Feder quer zur Verschiebung.",
  Triangle: "Dreieck",
  "Three masses; the first lies ahead.": "Drei Massen; die erste liegt vorn.",
  Ring: "Ring",
  "Eight masses, each joined to the next; its springs are half as long.":
    "Acht Massen, jede mit der nächsten verbunden; die Federn sind halb so lang.",
  Tetrahedron: "Tetraeder",
  "Four masses, all joined; in space.": "Vier Massen, alle verbunden; im Raum.",
  Lattice: "Gitter",
  "A cube with the diagonals of its faces; on a surface nine masses in a square.":
    "Ein Würfel mit den Diagonalen seiner Flächen; auf einer Fläche neun Massen im Quadrat.",
  Particle: "Teilchen",
  "One mass around a centre of gravity: Kepler's problem; in E, S and H.":
    "Eine Masse um ein Zentrum der Schwerkraft: das Kepler-Problem; in E, S und H.",
  Pair: "Paar",
  "Two masses that attract each other; in E, S and H.": "Zwei Massen, die sich anziehen; in E, S und H.",
  "Half-space": "Halbraum",
  Stereographic: "Stereographisch",
  Orthographic: "Orthographisch",
  Sphere: "Sphäre",
  "The sphere itself.": "Die Sphäre selbst.",
  "Angles are right; geodesics are arcs of circles that meet the boundary at right angles.":
    "Winkel stimmen; Geodätische sind Kreisbögen, die den Rand im rechten Winkel treffen.",
  "Geodesics are straight; angles are not right.": "Geodätische sind gerade; Winkel stimmen nicht.",
  "Angles are right; geodesics are half circles on the boundary and upright lines.":
    "Winkel stimmen; Geodätische sind Halbkreise über dem Rand und senkrechte Geraden.",
  "Angles are right; great circles are circles and lines.": "Winkel stimmen; Großkreise sind Kreise und Geraden.",
  "Seen from far away; both halves of the sphere lie on top of each other.":
    "Von weit weg gesehen; beide Hälften der Sphäre liegen übereinander.",
  vertex: "Ecke",
  "vertex {} from the centre": "Ecke {} von der Mitte aus",
  Separations: "Abstände",
  "Momentum maps": "Impulsabbildungen",
  "Length of the spring {}–{}": "Länge der Feder {}–{}",
  "Distance from the centre": "Abstand vom Zentrum",
  "Distance of the two": "Abstand der beiden",
  "Least strain of a spring": "Kleinste Dehnung einer Feder",
  "Largest strain of a spring": "Größte Dehnung einer Feder",
};

const RIGID: Readonly<Record<string, string>> = {
  "3-sphere of configurations": "3-Sphäre der Konfigurationen",
  "4-sphere of configurations": "4-Sphäre der Konfigurationen",
  "Elastic and rigid bodies, balls and gravity on spheres, in hyperbolic and in other spaces.":
    "Elastische und starre Körper, Bälle und Schwerkraft auf Sphären, in hyperbolischen und anderen Räumen.",
  "Rigid rod in H³": "Starrer Stab in H³",
  "Rigid triangle in H³": "Starres Dreieck in H³",
  "Rigid triangle in S³": "Starres Dreieck in S³",
  "Rigid rod in H² × E": "Starrer Stab in H² × E",
  "Rigid triangle in H² × E": "Starres Dreieck in H² × E",
  "Refined triangle in H² × E": "Verfeinertes Dreieck in H² × E",
  "Balls in S³": "Bälle in S³",
  "Balls in H²": "Bälle in H²",
  "Two masses and a spring or rod across the direction of the translation.":
    "Zwei Massen und eine Feder oder ein Stab quer zur Verschiebung.",
  "Refined triangle": "Verfeinertes Dreieck",
  "A triangle cut into sixteen, with springs along all edges.": "Ein Dreieck, in sechzehn zerlegt, mit Federn an allen Kanten.",
  Balls: "Bälle",
  "Free balls that fly to one centre and bounce off each other; in E, S and H.":
    "Freie Bälle, die zu einer Mitte fliegen und voneinander abprallen; in E, S und H.",
  "Joined by": "Verbunden durch",
  "Distances change, and springs pull them back.": "Abstände ändern sich, und Federn ziehen sie zurück.",
  "Distances never change; the plot shows the forces that keep them.":
    "Abstände ändern sich nie; das Diagramm zeigt die Kräfte, die sie halten.",
  "Rods keep their lengths against geodesics that separate: they pull.":
    "Stäbe halten ihre Länge gegen Geodätische, die sich entfernen: Sie ziehen.",
  "Rods keep their lengths against geodesics that approach each other: they push.":
    "Stäbe halten ihre Länge gegen Geodätische, die sich nähern: Sie drücken.",
  "Balls move along geodesics and bounce off each other; energy and momentum maps are kept.":
    "Bälle bewegen sich auf Geodätischen und prallen voneinander ab; Energie und Impulsabbildungen bleiben erhalten.",
  "Forces of the rods": "Kräfte der Stäbe",
  "Force of the rod {}–{}, outwards": "Kraft des Stabs {}–{}, nach außen",
  "Orthographic projection of S³": "Orthographische Projektion von S³",
  "Number of balls": "Zahl der Bälle",
  "Radius of the balls": "Radius der Bälle",
  Restitution: "Stoßzahl",
  "Speed of the outermost balls towards the centre": "Geschwindigkeit der äußersten Bälle zur Mitte",
  "Least distance of two surfaces": "Kleinster Abstand zweier Oberflächen",
};

export const LABS_GERMAN: Readonly<Record<string, string>> = { ...SHARED, ...PENDULUM, ...LINKAGE, ...CURVED, ...RIGID };
