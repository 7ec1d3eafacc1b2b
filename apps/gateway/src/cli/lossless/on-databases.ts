// Does the same with the database of every agent, and tells what each came to.
import { existsSync } from "node:fs";
import { isAbort } from "@clew/plugin-sdk/core";
import { describeFailure } from "../../terminal/failure.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { type Database, databasesOf, onlyOpenedHere } from "./databases.ts";
import { type Work, working } from "./working.ts";

/** What the commands for all databases are given. */
export interface DatabasesOptions {
  agent?: string;
  json?: boolean;
}

type Outcome<Answer> =
  | ({ readonly state: "done" } & Answer)
  | ({ readonly state: "missing" } & Partial<Answer>)
  | { readonly state: "unusable"; readonly reason: string };

/** Exit code 1 when one of them cannot be used, or is not `good`. */
export async function onDatabases<Answer extends { readonly text: string }>(
  { agent, json = false }: DatabasesOptions,
  { environment, output }: Shell,
  {
    work,
    good = () => true,
    without = () => undefined,
  }: {
    work(database: Database, options: Work): Promise<Answer>;
    good?(answer: Answer): boolean;
    /** What there is to say where there is no such file. Undefined: nothing. Absent: nothing. */
    without?(database: Database): Promise<Answer | undefined> | undefined;
  },
): Promise<number> {
  const note = await onlyOpenedHere(environment);
  if (note !== null) output.note(`clew: ${note}`);
  const outcomes: (Database & Outcome<Answer>)[] = [];
  let isGood = true;
  for (const database of await databasesOf(environment, agent)) {
    const outcome = await outcomeOf(database);
    isGood &&= outcome.state === "missing" || (outcome.state === "done" && good(outcome));
    outcomes.push({ ...database, ...outcome });
    if (!json) output.line(printable(describe(database, outcome)));
  }
  if (json) output.json({ databases: outcomes.map(withoutText) });
  return isGood ? 0 : 1;

  /** Opening a file that is not there would make it. */
  async function outcomeOf(database: Database): Promise<Outcome<Answer>> {
    if (!existsSync(database.file)) return { state: "missing", ...(await without(database)) };
    try {
      const answer = await working(output, (options) => work(database, options));
      return { state: "done", ...answer };
    } catch (error) {
      if (isAbort(error)) throw error;
      return { state: "unusable", reason: describeFailure(error, environment) };
    }
  }
}

function describe<Answer extends { text: string }>(
  { file }: Database,
  outcome: Outcome<Answer>,
): string {
  if (outcome.state === "missing")
    return [`${file}: nothing is kept yet`, outcome.text].filter(Boolean).join("\n");
  return outcome.state === "unusable" ? `${file}: ${outcome.reason}` : outcome.text;
}

function withoutText(outcome: object): object {
  const { text: _, ...data } = outcome as { text?: string };
  return data;
}
