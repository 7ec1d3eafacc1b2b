// Which texts stand in everything that a pattern finds.
import type { PatternNode } from "./parse.ts";

/**
 * Texts that every match holds, whatever their case, as long as they are; [] when nothing is
 * certain. They name the messages that have to be read at all.
 */
export function literalsOf(pattern: PatternNode): string[] {
  const found: string[] = [];
  let run = "";
  const end = () => {
    if (run !== "") found.push(run);
    run = "";
  };
  const read = (node: PatternNode): void => {
    switch (node.kind) {
      case "set": {
        const point = singleOf(node);
        if (point === undefined) end();
        else run += point;
        break;
      }
      case "sequence":
        for (const part of node.parts) read(part);
        break;
      case "repeat":
        // Once it stands there; how it goes on from there is not certain.
        if (node.least > 0) read(node.part);
        end();
        break;
      case "choice":
        end();
        break;
      case "assertion":
    }
  };
  read(pattern);
  end();
  return found;
}

/** The one character that a set takes. */
function singleOf({ set }: PatternNode & { kind: "set" }): string | undefined {
  const [range] = set.ranges;
  if (set.isNegated || set.ranges.length !== 1 || range![0] !== range![1]) return undefined;
  return String.fromCodePoint(range![0]);
}
