// Tells of what goes from a database and from a home as one plan.
import type { Journal } from "../journal.ts";
import type { Planned } from "../plan-home.ts";
import { scratchOf } from "../scratch-place.ts";
import { inDatabase, type PlannedInDatabase } from "./in-database.ts";

type OfSession = { agentId: string; sessionId: string };

/** Pure. What the home's leftovers have of a session is told with what the database has. */
export function mergePlanned(
  { planned: copy, left }: Pick<PlannedInDatabase, "planned" | "left">,
  inHome: Planned,
  { home, name }: { home: string; name: string },
): Planned {
  const scratch = scratchOf(home);
  const named = (file: string) => inDatabase(scratch, { file, why: "" }).file;
  const besides = <Of extends OfSession>(own: readonly Of[], more: readonly Of[]): Of[] => {
    const known = new Set(own.map(idOf));
    return [...own, ...more.filter((each) => !known.has(idOf(each)))];
  };
  const agentIn = (file: string) => file.slice(scratch.length).split("/")[2];
  return {
    databases: [
      ...copy.databases.map((each) => ({
        ...each,
        file: `${name}, agent ${agentIn(each.file)}`,
        // It is made for the plan alone.
        isStale: false,
      })),
      ...inHome.databases,
    ],
    transcripts: besides(copy.transcripts, inHome.transcripts),
    clients: besides(copy.clients, inHome.clients),
    calls: besides(copy.calls, inHome.calls),
    backups: inHome.backups,
    lookedInto: inHome.lookedInto,
    cleaned: [...copy.cleaned.map(named), ...inHome.cleaned],
    leftIn: [...left, ...copy.leftIn.map((each) => inDatabase(scratch, each)), ...inHome.leftIn],
  };
}

/** Pure. What the home keeps of sessions that go whole is known by their ids. */
export function withWholeSessions(journal: Journal, { transcripts }: Planned): Journal {
  const known = new Set(journal.transcripts.map(idOf));
  const more = transcripts.filter((each) => each.entries === null && !known.has(idOf(each)));
  return {
    ...journal,
    transcripts: [
      ...journal.transcripts,
      ...more.map(({ agentId, sessionId }) => ({ agentId, sessionId, entries: null })),
    ],
  };
}

const idOf = ({ agentId, sessionId }: OfSession): string => `${agentId}\n${sessionId}`;
