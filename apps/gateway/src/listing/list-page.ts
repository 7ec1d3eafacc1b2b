// Decides what a page of the list of sessions tells, and which sessions it leaves out.
import { pause } from "@clew/plugin-sdk/host";
import type { SessionSummary } from "../sessions/list-sessions.ts";
import type { SessionStore } from "../sessions/store.ts";
import { isFoundBy, type ListPage, pageOfList } from "../subagents/page-of-list.ts";
import { inTree, type Placed, type StartedSession } from "../subagents/session-tree.ts";
import { clientNamedIn } from "./client-names.ts";
import { clientTitle } from "./client-title.ts";
import { createKnownAbouts, type KnownAbouts } from "./known-abouts.ts";
import type { FirstExchange, ToldByDoor } from "./read-about.ts";

/** What a list tells of a session besides its name. */
export interface SessionAbout {
  /** Who is at its other end, e.g. "Claude Code", or the wire it speaks. Absent: Clew itself. */
  client?: string;
  /** That its client had made for it. Absent: none is known. */
  title?: string;
  /** Of the person, in one line. Absent: nothing is said in words. */
  firstWords?: string;
  /** Absent: it is a conversation. */
  sideRequest?: {
    /** Key of the session that its client sent it beside; null: nobody knows. */
    of: string | null;
  };
}

export type AboutRow = SessionSummary & SessionAbout;

export interface AskedPage extends ListPage {
  /** True: requests beside conversations are listed, too. Absent: they are only counted. */
  all?: boolean | undefined;
}

export interface AnsweredPage {
  sessions: (AboutRow & Placed)[];
  /** Null: this is the last page. */
  next: string | null;
  /** That are not listed, of all that would be found. */
  sideRequests: number;
}

/** Others are let in between. */
const READ_AT_A_TIME = 200;

export interface ListParts {
  /** Newest first. */
  rows: readonly SessionSummary[];
  /** Sessions that others started, as far as that is known without a look at them. */
  children: readonly StartedSession[];
}

export interface Listing {
  /**
   * Reads the beginnings of what is listed or looked through, once. Throws as `pageOfList` does.
   */
  page(parts: ListParts, asked: AskedPage): Promise<AnsweredPage>;
}

/** `beginnings`: see `SessionStore`. */
export function createListing({ beginnings }: Pick<SessionStore, "beginnings"> = {}): Listing {
  const abouts = createKnownAbouts(beginnings);
  let last: { rows: readonly SessionSummary[]; told: Told } | undefined;
  /** The rows are the same list for as long as nothing changed in them. */
  const tell = async (rows: readonly SessionSummary[]): Promise<Told> => {
    if (last?.rows === rows) return last.told;
    abouts.keepOnly(rows);
    await abouts.load(rows);
    const told = await tellOfClients(rows, abouts);
    last = told.isWhole ? { rows, told } : undefined;
    return told;
  };
  return {
    page: async (parts, asked) => pageOf(await tell(parts.rows), { ...parts, abouts }, asked),
  };
}

async function pageOf(
  told: Told,
  { children, abouts }: Pick<ListParts, "children"> & { abouts: KnownAbouts },
  { all = false, ...asked }: AskedPage,
): Promise<AnsweredPage> {
  const isSearch = (asked.find ?? "") !== "";
  const known =
    isSearch || all ? await inTurns(told.rows, (row) => withWords(row, abouts)) : told.rows;
  const placed = all ? withOrigins(known) : known;
  const isListed = ({ sideRequest }: AboutRow) => all || sideRequest === undefined;
  const below = [...children, ...told.started, ...sidesIn(placed)];
  const page = pageOfList(inTree(placed.filter(isListed), below), asked);
  return {
    ...page,
    sessions: page.sessions.map((row) => withWords(row, abouts)),
    sideRequests: placed.filter((row) => !isListed(row) && isFoundBy(row, asked.find)).length,
  };
}

interface Told {
  rows: AboutRow[];
  /** By what the door wrote. */
  started: StartedSession[];
  /** False: of a session at the door nothing is written yet. */
  isWhole: boolean;
}

async function tellOfClients(rows: readonly SessionSummary[], abouts: KnownAbouts): Promise<Told> {
  const doors = new Map<string, ToldByDoor>();
  const sessionOfKey = new Map<string, string>();
  const titles = new Map<string, string>();
  let isWhole = true;
  const named = await inTurns(rows, (row): AboutRow => {
    const client = clientNamedIn(row.key);
    if (client === undefined) return row;
    const door = abouts.toldByDoor(row);
    if (door === undefined) isWhole = false;
    else doors.set(row.key, door);
    if (door?.key !== undefined) sessionOfKey.set(door.key, row.key);
    if (!client.isAgent || door?.isBeside !== true) return { ...row, client: client.title };
    const title = titleMade(abouts.firstExchange(row));
    if (title !== undefined && door.family !== undefined) titles.set(door.family, title);
    return { ...row, client: client.title, sideRequest: { of: null } };
  });
  const started: StartedSession[] = [];
  const told = named.map((row) => {
    const { key, family, parent: said } = doors.get(row.key) ?? {};
    const parent = said === row.key ? undefined : said;
    if (row.sideRequest !== undefined)
      return { ...row, sideRequest: { of: parent ?? sessionOfKey.get(family ?? "") ?? null } };
    if (parent !== undefined) started.push(startedBy(parent, row.key));
    const title = titles.get(key ?? "");
    return title === undefined ? row : { ...row, title };
  });
  return { rows: told, started, isWhole };
}

const titleMade = ({ asked = "", reply }: Partial<FirstExchange> = {}): string | undefined =>
  reply === undefined ? undefined : clientTitle(asked, reply);

function withWords<Row extends AboutRow>(row: Row, abouts: KnownAbouts): Row {
  const { words } = abouts.firstExchange(row) ?? {};
  return words === undefined ? row : { ...row, firstWords: words };
}

/** What begins with the words of one conversation of the same client was sent beside it. */
function withOrigins(rows: readonly AboutRow[]): AboutRow[] {
  const wordsOf = ({ client, firstWords }: AboutRow) => `${client}\n${firstWords}`;
  const conversations = rows.filter(
    ({ client, firstWords, sideRequest }) =>
      client !== undefined && firstWords !== undefined && sideRequest === undefined,
  );
  const byWords = Map.groupBy(conversations, wordsOf);
  return rows.map((row) => {
    if (row.sideRequest?.of !== null) return row;
    const [only, ...others] = byWords.get(wordsOf(row)) ?? [];
    return only === undefined || others.length > 0
      ? row
      : { ...row, sideRequest: { of: only.key } };
  });
}

/** They are listed below the session that they were sent beside. */
const sidesIn = (rows: readonly AboutRow[]): StartedSession[] =>
  rows.flatMap(({ key, sideRequest }) =>
    sideRequest?.of == null ? [] : [startedBy(sideRequest.of, key)],
  );

const startedBy = (parent: string, key: string): StartedSession => ({
  ...{ key, parent: { key: parent }, label: null, task: "", state: "ended" },
  end: { outcome: "completed", reason: null, notice: "completed", at: 0 },
});

async function inTurns<Row, Made>(rows: readonly Row[], make: (row: Row) => Made): Promise<Made[]> {
  const made: Made[] = [];
  for (const row of rows) {
    made.push(make(row));
    if (made.length % READ_AT_A_TIME === 0) await pause();
  }
  return made;
}
