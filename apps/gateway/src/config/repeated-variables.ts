// Says which variables a file of them sets more than once, and which line counts.
import { isDeepStrictEqual, parseEnv } from "node:util";
import { counted } from "../text/number.ts";

const NAME = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=/;

/** Pure. One sentence for each variable; the last line of a name counts, as in every such file. */
export function repeatedVariables(path: string, text: string): string[] {
  const lines = text.split("\n");
  const places = new Map<string, number[]>();
  for (const [at, line] of lines.entries()) {
    const name = NAME.exec(line)?.[1];
    if (name !== undefined) places.set(name, [...(places.get(name) ?? []), at]);
  }
  const whole = parseEnv(text);
  /** What looks like a line of its own may be in the middle of a value. */
  const isIdle = (at: number) =>
    isDeepStrictEqual(parseEnv(lines.toSpliced(at, 1).join("\n")), whole);
  return [...places].flatMap(([name, all]) => {
    const last = all.at(-1)!;
    const idle = all.slice(0, -1).filter(isIdle);
    if (idle.length === 0) return [];
    const times = idle.length === 1 ? "twice" : counted(idle.length + 1, "time");
    const numbers = idle.map((at) => at + 1).join(", ");
    const others = idle.length === 1 ? "the other one" : "the others";
    return [
      `${path} sets ${name} ${times}, in lines ${numbers} and ${last + 1}, and line ${last + 1} counts; take ${others} out.`,
    ];
  });
}
