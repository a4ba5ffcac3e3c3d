import { describe, expect, it } from "vitest";
import { SvgPen } from "../src/picture/svg";

describe("a pen that writes SVG", () => {
  it("writes lines, discs, clipped parts and texts as a canvas would paint them", () => {
    const pen = new SvgPen(200, 100);
    pen.fillStyle = "#fff";
    pen.fillRect(0, 0, 200, 100);
    pen.save();
    pen.beginPath();
    pen.rect(10, 10, 50, 50);
    pen.clip();
    pen.globalAlpha = 0.5;
    pen.setLineDash([5, 4]);
    pen.beginPath();
    pen.moveTo(0, 1);
    pen.lineTo(2.345678, 3);
    pen.stroke();
    pen.restore();
    pen.beginPath();
    pen.arc(30, 40, 5, 0, 2 * Math.PI);
    pen.fill();
    pen.textAlign = "right";
    pen.font = 'italic 600 16px "Source Serif 4", serif';
    pen.fillText('a < b & "c"', 7, 8);
    const text = pen.toString();
    expect(text).toContain('<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100" viewBox="0 0 200 100">');
    expect(text).toContain('<g opacity="0.5" clip-path="url(#clip1)"><path d="M0 1L2.35 3" fill="none"');
    expect(text).toContain('stroke-dasharray="5 4"');
    expect(text).toContain('<path d="M35 40A5 5 0 0 1 25 40A5 5 0 0 1 35 40" fill="#fff"/>');
    const type = 'font-family="&quot;Source Serif 4&quot;, serif" font-size="16" font-weight="600" font-style="italic"';
    expect(text).toContain(`text-anchor="end" ${type}>`);
    expect(text).toContain(">a &lt; b &amp; &quot;c&quot;</text>");
    expect(text.match(/<g /g)).toHaveLength(1); // what was restored is as before
  });
});
