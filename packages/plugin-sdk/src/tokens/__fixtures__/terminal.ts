// What programs draw in a terminal, which tokenisers take apart into bytes.

const many = (draw: (at: number) => string, times = 400) =>
  Array.from({ length: times }, (_, at) => draw(at)).join("");

/** A sign of `signs` that looks random. */
const any = (signs: string, at: number) => {
  const all = [...signs];
  return all[(Math.imul(at + 1, 2_654_435_761) >>> 7) % all.length]!;
};

const FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const bar = (at: number) =>
  `${"█".repeat(at % 40)}${any("▏▎▍▌▋▊▉", at)}${"░".repeat(40 - (at % 40))}`;
const hex = (at: number) => (Math.imul(at, 2_654_435_761) >>> 0).toString(16).padStart(8, "0");

/** By what it is. */
export const TERMINAL: Readonly<Record<string, string>> = {
  "a spinner": many((at) => `${any(FRAMES, at)} installing…\r`),
  "a spinner alone": many((at) => `${any(FRAMES, at)}\b`),
  "a plot in Braille": many((at) => String.fromCodePoint(0x2800 + ((at * 7919) % 256))),
  "progress bars": many(
    (at) => `layer ${at % 9}: ${bar(at)} ${at % 100}% ${(at * 37) % 900}.1 MB\r`,
  ),
  "bars alone": many((at) => `${bar(at)} ${at % 100}%\r`),
  sparklines: many((at) => any("▁▂▃▄▅▆▇█", at)),
  "a code of squares": many((at) => `${any(" ▀▄█", at)}${at % 40 === 39 ? "\n" : ""}`, 1_600),
  "a maze": many((at) => any("─│┌┐└┘├┤┬┴┼", at)),
  "a double maze": many((at) => any("═║╔╗╚╝╠╣╦╩╬", at)),
  "a table": many((at) => `│ ${at} │ ok │\n├───┼────┤\n`),
  "coloured ticks": many((at) => `\x1b[3${at % 8}m✓\x1b[0m test ${at}\n`),
  "a dump of bytes": many((at) => `${hex(at).replace(/../g, "$& ")}|..a..|\n`),
  arrows: many((at) => any("←↑→↓↔↕↖↗", at)),
  "a game of chess": many((at) => any("♔♕♖♗♘♙♚♛♜♝♞♟", at)),
  dominoes: many((at) => String.fromCodePoint(0x1f030 + (at % 99))),
};
