// Says of each UTF-16 unit which kind of character it is to a tokeniser.

/** What a scan counts alike. */
export const CLASS = {
  lower: 0,
  upper: 1,
  digit: 2,
  space: 3,
  newline: 4,
  punctuation: 5,
  latin: 6,
  han: 7,
  kana: 8,
  hangul: 9,
  cyrillic: 10,
  arabic: 11,
  indic: 12,
  hebrew: 13,
  symbol: 14,
  other: 15,
  letters07: 16,
  letters11: 17,
  letters15: 18,
  letters22: 19,
  letters31: 20,
} as const;
/** Measured with o200k_base; what stands nowhere is as dear as Georgian or Armenian. */
const RARE: readonly [from: number, to: number, kind: number][] = [
  // Signs beside Latin letters, phonetic letters, and old Cyrillic.
  [0xa0, 0xbf, CLASS.letters11],
  [0x250, 0x2ff, CLASS.letters22],
  [0x460, 0x487, CLASS.letters15],
  // The points of Hebrew and Arabic, which part what they stand between; Kurdish and Uyghur.
  [0x591, 0x5c7, CLASS.letters15],
  [0x64b, 0x65f, CLASS.letters11],
  [0x670, 0x670, CLASS.letters11],
  [0x694, 0x697, CLASS.letters11],
  [0x699, 0x6a8, CLASS.letters11],
  [0x6b0, 0x6b9, CLASS.letters11],
  [0x6c3, 0x6cb, CLASS.letters11],
  [0x6cd, 0x6d1, CLASS.letters11],
  [0x6d5, 0x6d5, CLASS.letters11],
  // The accents of the Vedas.
  [0x951, 0x954, CLASS.letters31],
  // Syriac, Thaana, N'Ko; Samaritan and Mandaic.
  [0x700, 0x7ff, CLASS.letters22],
  [0x800, 0x89f, CLASS.letters31],
  // Gurmukhi, Odia, Sinhala, Lao, Tibetan, the Burmese letters of other languages.
  [0xa00, 0xa7f, CLASS.letters07],
  [0xb00, 0xb7f, CLASS.letters11],
  [0xd80, 0xdff, CLASS.letters07],
  [0xe80, 0xeff, CLASS.letters22],
  [0xf00, 0xfff, CLASS.letters15],
  [0x1050, 0x109f, CLASS.letters22],
  // Korean in single letters, Ethiopic, and all from Cherokee to the vedic marks but Khmer.
  [0x1100, 0x11ff, CLASS.letters31],
  [0x1200, 0x139f, CLASS.letters22],
  [0x13a0, 0x177f, CLASS.letters31],
  [0x1780, 0x17ff, CLASS.letters07],
  [0x1800, 0x1cff, CLASS.letters31],
  // Small capitals and raised letters; Greek with all accents.
  [0x1d00, 0x1dff, CLASS.letters31],
  [0x1f00, 0x1fff, CLASS.letters22],
  // Typographic signs, and what nobody sees.
  [0x2000, 0x203c, CLASS.symbol],
  [0x203d, 0x206f, CLASS.letters22],
  // Superscripts, currencies, units and fractions.
  [0x2070, 0x209f, CLASS.letters22],
  [0x20a0, 0x20bf, CLASS.letters15],
  [0x20c0, 0x218f, CLASS.letters22],
  // Arrows, mathematics, technical signs, numbers in circles, frames and bars, pictures.
  [0x2190, 0x233f, CLASS.letters22],
  [0x2340, 0x242f, CLASS.letters31],
  [0x2430, 0x26bf, CLASS.letters22],
  [0x26c0, 0x26ff, CLASS.letters31],
  [0x2700, 0x27bf, CLASS.letters22],
  // More mathematics and arrows; Braille, which terminals draw with; Glagolitic, Coptic, Tifinagh;
  // the parts of Chinese signs.
  [0x27c0, 0x2fff, CLASS.letters31],
  [0x2b00, 0x2b3f, CLASS.letters22],
  // Bopomofo; from Yi to Meetei; wide and narrow forms.
  [0x3100, 0x312f, CLASS.letters22],
  [0x3200, 0x33ff, CLASS.letters22],
  [0xa000, 0xabff, CLASS.letters31],
  [0xe000, 0xf8ff, CLASS.letters22],
  [0xfb00, 0xfdff, CLASS.letters22],
  [0xfe70, 0xfefe, CLASS.letters22],
  [0xff10, 0xff19, CLASS.letters15],
  [0xff21, 0xff3a, CLASS.letters15],
  [0xff41, 0xff5a, CLASS.letters15],
  [0xff66, 0xffdc, CLASS.letters15],
];

/** Those among signs of two tokens that are one. */
const SINGLE_SIGNS = "←↑→↓⇒∀∆−∙√∞∨≈≤≥≫①②③④⑤─━│┃├┣═║╗╝▀▄█▋░▒▓■□▪▫▬▲△▶▷►▼▽◆◇○◎●★☆☎☺♀♂♡♥♦♪♫✅✓✔✨❤➡";

function classTable(): Uint8Array {
  const table = new Uint8Array(0x10000).fill(CLASS.other);
  const ranges: [number, number, number][] = [
    [0x00, 0x1f, CLASS.symbol],
    [0x20, 0x7f, CLASS.punctuation],
    [0x61, 0x7a, CLASS.lower],
    [0x41, 0x5a, CLASS.upper],
    [0x30, 0x39, CLASS.digit],
    [0x09, 0x0c, CLASS.space],
    [0x20, 0x20, CLASS.space],
    [0x0a, 0x0a, CLASS.newline],
    [0x0d, 0x0d, CLASS.newline],
    [0xc0, 0x24f, CLASS.latin],
    [0x300, 0x36f, CLASS.latin],
    [0x370, 0x52f, CLASS.cyrillic],
    [0x590, 0x5ff, CLASS.hebrew],
    [0x600, 0x8ff, CLASS.arabic],
    [0x900, 0xdff, CLASS.indic],
    [0x1e00, 0x1eff, CLASS.latin],
    [0x1100, 0x11ff, CLASS.hangul],
    [0x3040, 0x30ff, CLASS.kana],
    [0x3130, 0x318f, CLASS.hangul],
    [0x3400, 0x4dbf, CLASS.han],
    [0x4e00, 0x9fff, CLASS.han],
    [0xac00, 0xd7af, CLASS.hangul],
    [0xf900, 0xfaff, CLASS.han],
    ...RARE,
  ];
  for (const [from, to, kind] of ranges) table.fill(kind, from, to + 1);
  for (const sign of SINGLE_SIGNS) table[sign.charCodeAt(0)] = CLASS.symbol;
  return table;
}

/** One byte per unit: a lookup is faster than a chain of range tests, and 64 KiB is cheap. */
export const CLASS_OF: Uint8Array = classTable();

const FILLING_SIGNS: ReadonlySet<number> = new Set(
  [..."─━═█▄■□▬"].map((sign) => sign.charCodeAt(0)),
);

/** True of a sign that rules and bars are made of: many in a row are few tokens. */
export const isFilling = (code: number): boolean => FILLING_SIGNS.has(code);
