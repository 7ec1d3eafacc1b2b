// Searches, reads and describes stored sessions for other agents, as people may see them.
import { setImmediate } from "node:timers/promises";
import { formatEntry } from "../../sessions/format-entry.ts";
import type { SessionSummary } from "../../sessions/list-sessions.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { type ShownEntry, shownEntries } from "../../sessions/shown.ts";
import type { SessionStore } from "../../sessions/store.ts";
import { counted, number } from "../../text/number.ts";
import { visible } from "../../text/visible.ts";
import { placeOfWords } from "./place-of-words.ts";

export interface LibraryOptions {
  store: Pick<SessionStore, "list" | "find" | "read">;
  /** Whose sessions a short name means. */
  defaultAgent: string;
  /** Ids of the agents whose sessions may be seen. Absent: all. */
  agents?: readonly string[] | undefined;
  /** Keys of the sessions that may be seen. Absent: all of those agents. */
  sessions?: readonly string[] | undefined;
  /** CLEW_HOME, for people. */
  home: string;
  /** Hides what is known to be secret. */
  hide(text: string): string;
}

/** Text for a model; all of it is data. Throws Unseen for what is not there, or may not be seen. */
export interface Library {
  search(asked: {
    query: string;
    session?: string | undefined;
    limit: number;
    signal: AbortSignal;
  }): Promise<string>;
  read(asked: { session: string; from?: string | undefined; page: number }): Promise<string>;
  describe(asked: { session?: string | undefined; limit: number }): Promise<string>;
}

/** What was asked for is not there, or may not be seen; nobody is told which. */
export class Unseen extends Error {}

/** Characters of a page. */
export const PAGE_CHARS = 24_000;

export function createLibrary(options: LibraryOptions): Library {
  const { store, hide } = options;
  const maySee = ({ agentId, key }: SessionSummary) =>
    (options.agents?.includes(agentId) ?? true) && (options.sessions?.includes(key) ?? true);
  const seen = async () => (await store.list()).filter(maySee);
  const entriesOf = async ({ key }: SessionSummary): Promise<readonly ShownEntry[]> =>
    shownEntries((await store.read(key))?.branch ?? []);
  const find = async (name: string): Promise<SessionSummary> => {
    const { key } = requireSessionName(name, options.defaultAgent);
    const found = await store.find(key);
    if (found !== null && maySee(found)) return found;
    throw new Unseen(`There is no session "${name}" here; describe_sessions lists them.`);
  };
  return {
    async search({ query, session, limit, signal }) {
      if (query.trim() === "") throw new Unseen("Nothing is looked for; say which words.");
      const sessions = session === undefined ? await seen() : [await find(session)];
      const found: string[] = [];
      let unread = 0;
      for (const each of sessions) {
        signal.throwIfAborted();
        // One that cannot be read is the doctor's to tell of.
        const entries = await entriesOf(each).catch(() => void unread++);
        for (const entry of [...(entries ?? [])].reverse()) {
          if (found.length >= limit) break;
          // What is hidden is not found either: it could be guessed letter by letter.
          const place = placeOfWords(hide(bodyOf(entry)), query);
          if (place !== undefined) found.push(lineOf(each, entry, visible(place)));
        }
        if (found.length >= limit) break;
        await setImmediate();
      }
      const left = unread === 0 ? "" : `\n${counted(unread, "session")} could not be read.`;
      if (found.length === 0)
        return `Nothing is found of that in ${counted(sessions.length, "session")} of ${options.home}.${left}`;
      return `${found.join("\n")}${left}`;
    },
    async read({ session, from, page }) {
      const summary = await find(session);
      const entries = await entriesOf(summary);
      const first = from === undefined ? 0 : entries.findIndex(({ id }) => id === from);
      if (first < 0) throw new Unseen(`There is no entry "${from}" in session "${session}".`);
      const end = page * PAGE_CHARS;
      let text = "";
      let at = first;
      for (; at < entries.length && text.length <= end; at++)
        text += `${hide(formatEntry(entries[at]!)).trimEnd()}\n\n`;
      const shown = wholeCharacters(text.slice(end - PAGE_CHARS, end));
      if (shown.trim() === "") throw new Unseen(`There is no page ${page}.`);
      const isMore = text.length > end || at < entries.length;
      return isMore ? `${shown.trimEnd()}\n\nThere is more: page ${page + 1}.` : shown.trimEnd();
    },
    async describe({ session, limit }) {
      if (session !== undefined) return hide(describeOne(await find(session).then(withEntries)));
      const all = await seen();
      if (all.length === 0) return `There are no sessions in ${options.home}.`;
      const lines = all.slice(0, limit).map(summaryLine);
      const more = all.length - lines.length;
      return hide([...lines, ...(more > 0 ? [`… and ${number(more)} more`] : [])].join("\n"));
    },
  };

  async function withEntries(summary: SessionSummary) {
    return { summary, entries: await entriesOf(summary) };
  }
}

/** Without its heading. */
function bodyOf(entry: ShownEntry): string {
  const formatted = formatEntry(entry);
  const end = formatted.indexOf("\n");
  return end < 0 ? "" : formatted.slice(end + 1);
}

const minute = (timestamp: string): string => timestamp.slice(0, 16).replace("T", " ");

const lineOf = ({ key }: SessionSummary, { id, timestamp }: ShownEntry, place: string): string =>
  `${key}  ${minute(timestamp)}  ${id}  ${place}`;

function summaryLine({ key, label, updatedAt, bytes }: SessionSummary): string {
  const name = label === undefined ? "" : `  "${visible(label)}"`;
  return `${key}${name}  last written ${minute(updatedAt)}, ${number(Math.ceil(bytes / 1024))} KiB`;
}

function describeOne({
  summary,
  entries,
}: {
  summary: SessionSummary;
  entries: readonly ShownEntry[];
}): string {
  const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry] : []));
  const from = (role: string) => messages.filter(({ message }) => message.role === role).length;
  const people = messages.filter(({ message }) => message.role === "user");
  const [first, last] = [people[0], people.at(-1)];
  const compactions = entries.filter(({ type }) => type === "compaction").length;
  const said = (title: string, entry: ShownEntry | undefined) =>
    entry === undefined ? [] : [`${title} (${entry.id}): ${shorten(bodyOf(entry))}`];
  return [
    summaryLine(summary),
    `agent ${summary.agentId}; ${counted(from("user"), "message")} of people, ${counted(from("assistant"), "reply", "replies")}, ${counted(from("toolResult"), "tool result")}, ${counted(compactions, "compaction")}`,
    ...(entries[0] === undefined ? [] : [`begun ${minute(entries[0].timestamp)}`]),
    ...said("first request", first),
    ...(last === first ? [] : said("newest request", last)),
  ].join("\n");
}

const MOST_QUOTED = 400;

function shorten(text: string): string {
  const flat = visible(text.replace(/\s+/g, " ").trim());
  return flat.length > MOST_QUOTED ? `${flat.slice(0, MOST_QUOTED)}…` : flat;
}

/** A cut keeps half of a surrogate pair for neither page. */
const wholeCharacters = (text: string): string =>
  text.replace(/[\uD800-\uDBFF]$/, "").replace(/^[\uDC00-\uDFFF]/, "");
