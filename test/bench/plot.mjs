const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [420, 240, 64, 20, 40, 44];

/** `points`: [x, y], x ascending, on a logarithmic axis. `names`: labels of x. */
export function plot({ title, xLabel, points, names }) {
  const xs = points.map(([x]) => Math.log10(x));
  const top = Math.max(...points.map(([, y]) => y)) * 1.1;
  const at = ([x, y]) => [
    LEFT + ((Math.log10(x) - xs[0]) / (xs.at(-1) - xs[0])) * (WIDTH - LEFT - RIGHT),
    HEIGHT - BOTTOM - (y / top) * (HEIGHT - TOP - BOTTOM),
  ];
  const places = points.map(at).map(([x, y]) => [x.toFixed(1), y.toFixed(1)]);
  const floor = HEIGHT - BOTTOM;
  const marks = places.map(
    ([x, y], index) =>
      `<circle cx="${x}" cy="${y}" r="4"/><text x="${x}" y="${Number(y) - 9}" text-anchor="middle">${points[index][1]}</text><text x="${x}" y="${floor + 16}" text-anchor="middle">${names[index]}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}" font-family="sans-serif" font-size="11" fill="#444">
<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>
<text x="${LEFT}" y="20" font-size="13">${title}</text>
<path d="M${LEFT} ${TOP}V${floor}H${WIDTH - RIGHT}" fill="none" stroke="#999"/>
<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${xLabel}</text>
<text x="${LEFT - 6}" y="${floor}" text-anchor="end">0</text>
<polyline points="${places.map((place) => place.join(",")).join(" ")}" fill="none" stroke="#2563eb" stroke-width="2"/>
<g>${marks.join("\n")}</g>
</svg>
`;
}
