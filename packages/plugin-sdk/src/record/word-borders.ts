// Where a name begins and ends in a word of a script that puts nothing between words.
import { EXTENSIONS } from "./name-shapes.ts";

const GAPLESS = String.raw`\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Thai}`;
const ANY = new RegExp(`[${GAPLESS}]`, "u");
const LATIN = /[A-Za-z]/;
/** Before "src/a.ts": a name that begins with both scripts begins with what is not Latin. */
const BEFORE_PATH = new RegExp(`^[${GAPLESS}]+(?=[A-Za-z~$][A-Za-z0-9_~$/.-])`, "u");
const AFTER_FILE = new RegExp(`(?<=\\.(?:${EXTENSIONS}))(?=[${GAPLESS}])`, "iu");
const BETWEEN = new RegExp(`(?<=[${GAPLESS}])(?=[A-Za-z])|(?<=[A-Za-z0-9])(?=[${GAPLESS}])`, "u");

/** `word` cut where its scripts meet: "文件src/a.ts已修改" is three. Most words are one. */
export function cutAtBorders(word: string): readonly string[] {
  if (!ANY.test(word) || !LATIN.test(word)) return [word];
  if (!/[/.]/.test(word)) return word.split(BETWEEN);
  const before = BEFORE_PATH.exec(word)?.[0] ?? "";
  return [before, ...word.slice(before.length).split(AFTER_FILE)].filter((piece) => piece !== "");
}
