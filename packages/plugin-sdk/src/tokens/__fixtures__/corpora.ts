// Texts of every kind a transcript holds, generated: the same on every machine and in every run.

/** A small deterministic generator of numbers in [0, 1). */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const SENTENCES = [
  "The build failed because the lock file was out of date, so I ran the install again and committed the result.",
  "Could you check whether the customer's second payment was refunded before the end of March?",
  "A context engine decides what the model sees; everything else stays where it is and can be read again later.",
  "We agreed not to change the public names, to keep the old flag for one release, and to write a note about it.",
  "There are three ways to do this, and the simplest one is usually the right one to start with.",
];

const CODE = `export function planCompaction(items: readonly Item[], budget: number): Plan {
  const kept: Item[] = [];
  let used = 0;
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index]!;
    if (used + item.tokens > budget) break;
    used += item.tokens;
    kept.unshift(item);
  }
  return { kept, left: items.slice(0, items.length - kept.length), used };
}
`;

const CHINESE =
  "构建失败是因为锁文件已经过期,所以我重新运行了安装命令并提交了结果。请检查第二笔付款是否已经退款。";
const JAPANESE =
  "ロックファイルが古かったためビルドに失敗しました。もう一度インストールして結果をコミットしました。";
const RUSSIAN =
  "Сборка не удалась, потому что файл блокировки устарел, поэтому я снова запустил установку и сохранил результат. ";
const GERMAN =
  "Der Bau schlug fehl, weil die Sperrdatei veraltet war; danach habe ich die Installation wiederholt und das Ergebnis gespeichert. ";

/** About `chars` characters of each kind. */
export function corpora(chars: number): Record<string, string> {
  const next = random(7);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(next() * values.length)]!;
  const fill = (make: () => string): string => {
    let text = "";
    while (text.length < chars) text += make();
    return text.slice(0, chars);
  };
  const hex = (length: number) =>
    Array.from({ length }, () => Math.floor(next() * 16).toString(16)).join("");
  const from = (alphabet: string) => () => alphabet[Math.floor(next() * alphabet.length)]!;
  const base64 = from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
  return {
    english: fill(() => `${pick(SENTENCES)} `),
    code: fill(() => CODE),
    json: fill(
      () =>
        `${JSON.stringify({ id: hex(12), name: pick(["Anna", "Bo", "Chen"]), score: next().toFixed(4), tags: ["a", "b"] })},`,
    ),
    logs: fill(
      () =>
        `2026-03-0${1 + Math.floor(next() * 9)}T10:${10 + Math.floor(next() * 50)}:07.123Z ${pick(["INFO", "WARN"])} http.server GET /api/v1/items/${Math.floor(next() * 1e5)} status=${pick([200, 404])} dur=${(next() * 900).toFixed(2)}ms\n`,
    ),
    csv: fill(() => `${(next() * 1000).toFixed(3)},`),
    uuids: fill(() => `${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}\n`),
    hex: fill(() => hex(64)),
    base64: fill(base64),
    lowercase: fill(from("abcdefghijklmnopqrstuvwxyz")),
    chinese: fill(() => CHINESE),
    japanese: fill(() => JAPANESE),
    russian: fill(() => RUSSIAN),
    german: fill(() => GERMAN),
    emoji: fill(() => pick(["😀", "🚀", "🎉", "🔥", "🤖", "📦"])).replace(/[\ud800-\udbff]$/, ""),
    oneLetter: "x".repeat(chars),
    ruler: "=".repeat(chars),
    newlines: "\n".repeat(chars),
  };
}
