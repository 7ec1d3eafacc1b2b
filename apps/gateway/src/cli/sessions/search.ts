// Runs `clew sessions search`, which finds what was said in all sessions of a home.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { shortName } from "../../sessions/keys.ts";
import { nameWithLabel } from "../../sessions/labels.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { type SearchQuery, searchMatcher } from "../../sessions/search/query.ts";
import type { FoundEntry } from "../../sessions/search/session-search.ts";
import type { SessionStore } from "../../sessions/store.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { counted } from "../../text/number.ts";
import { visible } from "../../text/visible.ts";
import { interruptible } from "../interruptible.ts";
import { storedSessions } from "../stored-sessions.ts";

export interface SearchOptions {
  session?: string;
  limit: number;
  /** Also in what was taken back, and so stands on no branch that goes on. */
  all?: boolean;
  /** It is words, which stand anywhere in a message. */
  words?: boolean;
  /** It is a regular expression. */
  regex?: boolean;
  json?: boolean;
}

/** Newest first. Exit code 1 when nothing is found. Throws REQUEST_INVALID. */
export async function searchSessions(
  wanted: string,
  options: SearchOptions,
  { environment, output }: Shell,
): Promise<number> {
  const { session, limit, all: everyBranch = false, json = false } = options;
  const query: SearchQuery = { kind: kindOf(options), text: wanted };
  // Before anything is opened.
  searchMatcher(query);
  const storage = await storedSessions(environment);
  const only = session === undefined ? undefined : await sessionOf(storage.sessions, session);
  const answer = await interruptible(output, ({ signal, says }) =>
    storage.search.search({ query, session: only, limit, everyBranch, signal, says }),
  );
  const { found, unread, whyUnread, partly, hasNoIndex } = answer;
  for (const { session: key, why } of whyUnread ?? [])
    output.note(printable(`Session ${shortName(key)} could not be searched whole: ${why}`));
  if (unread > 0 && whyUnread === undefined)
    output.note(`${counted(unread, "session")} could not be read; "clew doctor" says why.`);
  if (partly !== undefined)
    output.note(
      `Time was up: ${partly.looked} of ${counted(partly.of, "message")} were searched, the newest; name a session (--session), or look for more letters in a row.${hasNoIndex ? " The database has no pg_trgm, which would find them at once." : ""}`,
    );
  if (json)
    output.json({
      found,
      ...(whyUnread !== undefined && { unread: whyUnread }),
      ...(partly !== undefined && { partly }),
    });
  else if (found.length === 0)
    output.line(
      printable(
        `Nobody said "${wanted}"${everyBranch ? "" : "; with --all what was taken back counts, too"}.`,
      ),
    );
  else for (const each of found) output.line(lineOf(each));
  return found.length === 0 ? EXIT.failed : EXIT.done;
}

function kindOf({ words = false, regex = false }: SearchOptions): SearchQuery["kind"] {
  if (words && regex)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      "It is looked for as words (--words) or as a regular expression (--regex), not as both.",
    );
  return words ? "words" : regex ? "pattern" : "text";
}

async function sessionOf(store: SessionStore, name: string) {
  const found = await store.find(requireSessionName(name).key);
  if (found === null) throw await store.notFound(name);
  return found;
}

const lineOf = ({ session, label, entry, timestamp, text, isTakenBack }: FoundEntry): string =>
  printable(
    `${nameWithLabel({ key: session, label })}  ${timestamp.slice(0, 16).replace("T", " ")}  ${entry}  ${isTakenBack ? "(taken back) " : ""}${visible(text)}`,
  );
