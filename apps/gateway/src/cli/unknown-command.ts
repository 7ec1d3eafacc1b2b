// Says which command somebody may have meant who typed one that there is not.
import type { Command } from "commander";
import { printable } from "../terminal/output.ts";
import { nearestOf } from "../text/nearest.ts";

/**
 * Null: the words begin with a command that there is. Also what comes before "--help" counts.
 * `off`: plugins in safe mode, whose commands nobody knows now.
 */
export function describeUnknownCommand(
  program: Command,
  argv: readonly string[],
  off: readonly string[] = [],
): string | null {
  let command = program;
  const path = [program.name()];
  for (const word of argv) {
    if (word.startsWith("-") || command.commands.length === 0) return null;
    const names = command.commands.map((each) => each.name());
    const next = command.commands.find(
      (each) => each.name() === word || each.aliases().includes(word),
    );
    if (next === undefined && word !== "help") return unknown(path.join(" "), word, names, off);
    if (next === undefined) return null;
    command = next;
    path.push(word);
  }
  return null;
}

function unknown(
  group: string,
  word: string,
  names: readonly string[],
  off: readonly string[],
): string {
  const nearest = nearestOf(word, names);
  const guess = nearest === null ? "" : ` Did you mean "${group} ${nearest}"?`;
  const [first] = off;
  const asleep =
    first === undefined
      ? ""
      : ` Plugins off in safe mode may have it (${off.join(", ")}); "clew plugins enable ${first}" brings one back.`;
  return printable(
    `${group}: unknown command "${word}".${guess} "${group} --help" lists what there is.${asleep} [REQUEST_INVALID]`,
  );
}
