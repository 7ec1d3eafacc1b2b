// Copies what an engine has beside a session in a database into the store of a home.
import type { CopySummary, PostgresCopy } from "@clew/store-postgres";
import { DOOR_ROWS } from "../postgres/door-rows.ts";
import { rowsInHome } from "./engine-rows-in.ts";
import { type EngineStores, ROWS_ENGINE } from "./engine-stores.ts";
import type { CopyOut } from "./result.ts";

/** What became of them. "apart": the store has their numbers for other sessions. */
export type RowsTaken = "same" | "taken" | "apart";

export async function takeRows(
  { copy, engines, isCheck }: Pick<CopyOut, "copy" | "engines" | "isCheck">,
  { agentId, sessionId, key: sessionKey }: CopySummary,
): Promise<RowsTaken> {
  const store = await engines.of(agentId);
  const session = { sessionId, sessionKey };
  const port = portOf(copy);
  const { load, lines } = port.of({ agentId, sessionId });
  const beside = (other: string) => port.of({ agentId, sessionId: other });
  const rows = await load();
  const taken = await engines.asFarAsReadable(
    agentId,
    () =>
      isCheck
        ? store.wouldTake(session, rows)
        : store.take(session, { load: async () => rows, lines, beside }),
    (error) => error === port.failure(),
  );
  return taken ?? "same";
}

/** Rows and transcripts as the database has them, and how it failed last. */
function portOf(copy: PostgresCopy) {
  let failure: unknown;
  const ask = <Answer>(work: Promise<Answer>): Promise<Answer> =>
    work.catch((error: unknown) => {
      failure = error;
      throw error;
    });
  return {
    failure: () => failure,
    of: (session: { agentId: string; sessionId: string }) => ({
      load: () => ask(copy.engineRows(session, ROWS_ENGINE)),
      lines: (part: { after: number; limit: number }) => ask(linesOf(copy, session, part)),
    }),
  };
}

async function linesOf(
  copy: PostgresCopy,
  session: { agentId: string; sessionId: string },
  { after, limit }: { after: number; limit: number },
): Promise<string[]> {
  const lines: string[] = [];
  for (let at = after; lines.length < limit; ) {
    const some = await copy.lines(session, at);
    if (some.length === 0) break;
    at = some.at(-1)!.seq;
    lines.push(...some.slice(0, limit - lines.length).map(({ body }) => body));
  }
  return lines;
}

/** SHA-256 of what the home has of it, so that what changes there later is known as such. */
export async function printInHome(
  engines: EngineStores,
  { agentId, sessionId, key: sessionKey }: { agentId: string; sessionId: string; key: string },
): Promise<string | null> {
  return (await rowsInHome(engines, { agentId, sessionId, sessionKey }))?.print ?? null;
}

/** Engines that keep rows in the database, and have nothing in files to put them into. */
export const otherEngines = async (copy: PostgresCopy): Promise<string[]> =>
  (await copy.rowEngines()).filter((engine) => engine !== ROWS_ENGINE && engine !== DOOR_ROWS);
