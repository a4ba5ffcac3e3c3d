// Sets the formulas that the Markdown extension arithmatex has marked, with the KaTeX that the site carries.
for (const element of document.querySelectorAll(".arithmatex")) {
  const text = element.textContent.trim();
  katex.render(text.slice(2, -2), element, { displayMode: text.startsWith("\\["), throwOnError: false });
}
