// Runs `clew lossless forget`, which takes words out of everything below the home.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { readJournal } from "../../forget/journal.ts";
import { holds, journalOf } from "../../forget/journal-of.ts";
import { matcherOf, type Planned, planHome } from "../../forget/plan-home.ts";
import { forgetInDatabase, planInDatabase } from "../../forget/postgres/in-database.ts";
import { mergePlanned, withWholeSessions } from "../../forget/postgres/merge-planned.ts";
import { runForgetting } from "../../forget/run.ts";
import { claimHome } from "../../home/claim.ts";
import { sessionNotFound } from "../../sessions/name-errors.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { askedFor, type ForgetOptions, refuseMore } from "./asked-to-forget.ts";
import { databasesOf } from "./databases.ts";
import { describeDone, describeLeft, describePlan, nothingFound } from "./describe-forgetting.ts";
import { type ForgettingDatabase, resumeAll, withDatabase } from "./forgetting-database.ts";

/**
 * Changes nothing without `--yes`. Exit code 1 where nothing is found, or other files hold it
 * still. Throws GATEWAY_RUNNING, REQUEST_INVALID, SESSION_NOT_FOUND, SESSION_LOCKED,
 * STORAGE_FAILED.
 */
export async function losslessForget(
  message: string | undefined,
  options: ForgetOptions,
  shell: Shell,
): Promise<number> {
  const { environment, output } = shell;
  const { home } = environment;
  const { yes = false, resume = false, json = false } = options;
  const isChange = yes || resume;
  const claim = isChange ? await claimHome(home) : undefined;
  try {
    return await withDatabase(shell, { isChange }, async (database) => {
      if (resume) {
        refuseMore(message, options);
        const done = await resumeAll(home, database);
        if (json) output.json({ isDone: done !== null, messages: done?.messages ?? 0 });
        else if (done === null) output.line("Nothing was being forgotten when a process ended.");
        else for (const line of [RESUMED, ...describeLeft(done.leftIn, STILL)]) output.line(line);
        return done === null || done.leftIn.length === 0 ? 0 : 1;
      }
      const asked = askedFor(message, options);
      // What is written down of it would be lost.
      if (yes && (await resumeAll(home, database)) !== null && !json) output.line(RESUMED);
      return forgetAsked({ asked, options, database }, shell);
    });
  } finally {
    await claim?.release();
  }
}

const RESUMED = "What was being forgotten when a process ended is forgotten now.";
const UNFINISHED =
  "Something else was being forgotten when a process ended: it is forgotten first, or by clew lossless forget --resume.";
const HOLDING = "These files below the home hold it:";
const STILL = "These hold some of it still:";
const OTHER_HOMES =
  "Homes of other gateways of this database keep what those took of it; run the same command there, too.";

async function forgetAsked(
  {
    asked,
    options,
    database,
  }: {
    asked: ReturnType<typeof askedFor>;
    options: ForgetOptions;
    database: ForgettingDatabase | null;
  },
  { environment, output }: Shell,
): Promise<number> {
  const { home } = environment;
  const { yes = false, backups: dropsBackups = true, json = false } = options;
  const databases = await databasesOf(environment, options.agent);
  const agents =
    options.agent === undefined ? null : databases.flatMap((database) => database.agents);
  const found = database && (await planInDatabase(database.request, { asked, agents }));
  const inHome = await planHome({
    ...{ home, asked, databases, dropsBackups, agents, elsewhere: found?.words },
    inUse: (await databasesOf(environment, undefined)).map(({ file }) => file),
  });
  const planned =
    found === null ? inHome : mergePlanned(found, inHome, { home, name: database!.name });
  const refused = planned.databases.flatMap((database) => database.refused);
  if (refused.length > 0) throw new ContextEngineError("REQUEST_INVALID", refused[0]!);
  const tell = (lines: readonly string[]) => {
    for (const line of lines) output.line(printable(line));
  };
  if (isNothing(planned)) {
    if (found !== null && asked.kind === "session") throw sessionNotFound(asked.name.key);
    if (json) output.json({ isDone: false, ...withoutGraves(planned), messages: 0 });
    else tell([nothingFound(asked, home), ...describeLeft(planned.leftIn, HOLDING)]);
    return 1;
  }
  if (!yes) {
    if (json) output.json({ isDone: false, ...withoutGraves(planned) });
    else tell(describePlan(planned, dropsBackups));
    if (!json && (await readJournal(home)) !== null) output.line(UNFINISHED);
    return 0;
  }
  const except = inHome.lookedInto;
  const journal = journalOf(inHome, dropsBackups);
  const ran =
    database === null || found === null
      ? await runForgetting(home, journal, { matcher: matcherOf(asked), except })
      : await forgetInDatabase(
          database.request,
          found,
          { copy: journalOf(found.planned, true), home: withWholeSessions(journal, found.planned) },
          { asked, except },
        );
  const copies = planned.leftIn.filter(({ file }) => planned.lookedInto.has(file));
  const done = { ...ran, leftIn: [...copies, ...(found?.left ?? []), ...ran.leftIn] };
  if (json) output.json({ isDone: true, ...withoutGraves(planned), ...done });
  else tell(describeDone(planned, done, dropsBackups));
  if (!json && found !== null) output.line(OTHER_HOMES);
  return done.leftIn.length === 0 ? 0 : 1;
}

const isNothing = ({ transcripts, backups, cleaned, databases }: Planned): boolean =>
  transcripts.length + backups.length + cleaned.length === 0 &&
  databases.every((database) => !holds(database) && !database.isStale);

/** For programs: hashes are of no use to them. */
const withoutGraves = ({ databases, lookedInto: _looked, ...planned }: Planned) => ({
  ...planned,
  databases: databases.map(({ graves: _graves, ...database }) => database),
});
