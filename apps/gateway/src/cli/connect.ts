// Runs `clew connect`, which points other programs at this home's gateway.
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Environment } from "../config/environment.ts";
import {
  type PlacedFile,
  placeFiles,
  readClientFile,
  readRecord,
  saysAll,
  undoFiles,
  type WrittenOutcome,
  whyUnusable,
  writeFiles,
} from "../connect/client-files.ts";
import { CONNECT_CLIENTS } from "../connect/clients.ts";
import type { ConnectClient, Connection } from "../connect/connection.ts";
import { setSettings } from "../connect/edit-settings.ts";
import { type FoundGateway, findGateway, signsIn } from "../connect/find-connection.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { formatTable } from "../terminal/table.ts";
import { nearestName } from "../text/nearest.ts";
import { isOnPath } from "./on-path.ts";

export interface ConnectOptions {
  write?: boolean;
  undo?: boolean;
  model?: string;
  json?: boolean;
}

/** Stands for the token where it is not written into a file. */
const TOKEN_PLACE = "$CLEW_TOKEN";

/** Without a name: which clients there are. */
export async function connect(
  name: string | undefined,
  options: ConnectOptions,
  shell: Shell,
): Promise<number> {
  if (options.write && options.undo)
    throw wrong("--write and --undo are opposites; give one of them");
  if (name === undefined) {
    if (options.write || options.undo || options.model !== undefined)
      throw wrong(`Name the client: ${clientNames()}`);
    return listClients(options, shell);
  }
  const client = findClient(name);
  if (options.undo) return undo(client, options, shell);
  const found = await findGateway(shell.environment);
  const connection = connectionOf(client, found, { ...options, environment: shell.environment });
  if (options.write) return write(client, found, connection, options, shell);
  return print(client, found, connection, options, shell);
}

/** By what people call an API, the variable in which its programs look for an address. */
const SDKS: ReadonlyMap<string, string> = new Map([
  ["openai", "OPENAI_BASE_URL=http://127.0.0.1:18790/v1"],
  ["anthropic", "ANTHROPIC_BASE_URL=http://127.0.0.1:18790"],
  ["google", "GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:18790"],
]);

/** Throws REQUEST_INVALID. */
function findClient(name: string): ConnectClient {
  const client = CONNECT_CLIENTS.find(({ id }) => id === name.toLowerCase());
  if (client !== undefined) return client;
  const ids = CONNECT_CLIENTS.map(({ id }) => id);
  const near = nearestName(name, ids) ?? ids.find((id) => id.startsWith(name.toLowerCase()));
  const sdk = SDKS.get(name.toLowerCase());
  if (sdk !== undefined)
    throw wrong(
      `"${name}" is no agent with settings to write: a program that speaks that API is pointed at the gateway by ${sdk}, as docs/door.md says, and "clew status" tells the gateway's address. Known agents: ${clientNames()}`,
    );
  const guess = near ? ` Did you mean "${near}"?` : "";
  throw new ContextEngineError(
    "REQUEST_INVALID",
    `There is no client "${name}".${guess} Known: ${clientNames()}.`,
  );
}

const clientNames = () => CONNECT_CLIENTS.map(({ id }) => id).join(", ");

const wrong = (sentence: string) => new ContextEngineError("REQUEST_INVALID", `${sentence}.`);

function connectionOf(
  client: ConnectClient,
  { base, token, config }: FoundGateway,
  { model = null, environment }: { model?: string | null; environment: Environment },
): Connection {
  return {
    ...{ base, model, token: token?.text ?? null },
    signsIn: signsIn(client, model, { config, environment }),
  };
}

async function print(
  client: ConnectClient,
  found: FoundGateway,
  connection: Connection,
  { json = false }: ConnectOptions,
  { environment, output }: Shell,
): Promise<number> {
  // No token is printed: what is printed is copied into places that others read.
  const shown = { ...connection, token: connection.token === null ? null : TOKEN_PLACE };
  const files = await placeFiles(client, shown, environment);
  const notes = notesOf(client, found, shown);
  const start = client.start(shown, (index) => files[index]!.path);
  if (json) {
    const told = files.map(({ path, format, set }) => ({ path, format, set }));
    output.json({ client: client.id, gateway: shown.base, files: told, start, notes });
    return EXIT.done;
  }
  for (const file of files) {
    output.line(printable(`${file.path}:`));
    output.line(printable(indented(textOf(file))));
    output.line();
  }
  output.line(printable(`Then: ${start}`));
  for (const note of notes) output.note(printable(note));
  output.note(`"clew connect ${client.id} --write" writes this, and --undo takes it out again.`);
  return EXIT.done;
}

/** What the file would say if it said nothing else. */
const textOf = ({ format, set }: PlacedFile): string =>
  format === "json"
    ? JSON.stringify(JSON.parse(setSettings("{}", format, set)), null, 2)
    : setSettings("", format, set).trimEnd();

const indented = (text: string): string => text.replaceAll(/^(?=.)/gm, "  ");

function notesOf(client: ConnectClient, found: FoundGateway, connection: Connection): string[] {
  const { token, isRunning } = found;
  return [
    ...client.notes(connection),
    ...(token === null
      ? []
      : [
          token.isOwn
            ? `${TOKEN_PLACE} stands for gateway.auth.token, which may do all that you may; a token of gateway.auth.tokens with the scope "chat" is enough.`
            : `${TOKEN_PLACE} stands for the token "${token.name}" of gateway.auth.tokens.`,
        ]),
    ...(isRunning ? [] : ['The gateway is not running; "clew start" starts it.']),
  ];
}

async function write(
  client: ConnectClient,
  found: FoundGateway,
  connection: Connection,
  { json = false }: ConnectOptions,
  { environment, output }: Shell,
): Promise<number> {
  const placed = await placeFiles(client, connection, environment);
  const written = await writeFiles(environment.home, client, placed);
  const start = client.start(connection, (index) => placed[index]!.path);
  const notes = [
    ...client.notes(connection),
    ...(connection.token === null ? [] : written.flatMap(readableNote)),
    ...written.flatMap(({ repeated }) => repeated),
  ];
  if (json) {
    const files = written.map(({ path, isChanged }) => ({ path, changed: isChanged }));
    output.json({ client: client.id, gateway: connection.base, files, start, notes });
    return EXIT.done;
  }
  for (const { path, isChanged } of written)
    output.line(printable(`${isChanged ? "Written" : "As it was"}: ${path}`));
  output.line(printable(`${client.title} now asks ${connection.base}. Then: ${start}`));
  for (const note of notes) output.note(printable(note));
  if (!found.isRunning) output.note('The gateway is not running; "clew start" starts it.');
  return EXIT.done;
}

/** A token lies in it now. */
const readableNote = ({ path, mode }: WrittenOutcome): string[] =>
  (mode & 0o044) === 0
    ? []
    : [`Others on this machine can read the token in ${path}; run: chmod 600 ${path}`];

async function undo(
  client: ConnectClient,
  { json = false }: ConnectOptions,
  { environment, output }: Shell,
): Promise<number> {
  const undone = await undoFiles(environment.home, client);
  if (json) {
    const files = undone.map(({ path, kind, changed }) => ({ path, state: kind, kept: changed }));
    output.json({ client: client.id, files });
    return EXIT.done;
  }
  if (undone.length === 0)
    output.line(`Nothing was written for ${client.title}, so there is nothing to undo.`);
  for (const { path, kind, changed } of undone) {
    output.line(printable(`${UNDONE[kind]}: ${path}`));
    if (changed.length > 0)
      output.note(printable(`${changed.join(", ")} was changed there since, and stays.`));
  }
  return EXIT.done;
}

const UNDONE = {
  restored: "As it was before",
  untouched: "Is as it was before already",
  "taken-out": "Changed since, so only what was written is taken out",
} as const;

async function listClients(
  { json = false }: ConnectOptions,
  { environment, output }: Shell,
): Promise<number> {
  const found = await findGateway(environment);
  const clients = await Promise.all(
    CONNECT_CLIENTS.map(async (client) => {
      const { id, title, bin } = client;
      const connection = connectionOf(client, found, { environment });
      const placed = await placeFiles(client, connection, environment);
      return {
        ...{ id, title, installed: await isOnPath(bin, environment) },
        settings: placed.map(({ path }) => path),
        ...(await stateOf(client, { placed, connection }, environment)),
      };
    }),
  );
  if (json) output.json({ gateway: found.base, running: found.isRunning, clients });
  else {
    const rows = clients.map(({ id, title, installed, state, settings }) => [
      ...[id, title, installed ? "yes" : "no", state, settings[0]!],
    ]);
    output.line(
      printable(formatTable(["name", "program", "installed", "connected", "settings"], rows)),
    );
    for (const { why } of clients) if (why !== undefined) output.note(printable(why));
    const [outdated] = clients.filter(({ state }) => state === "outdated");
    if (outdated !== undefined)
      output.note(
        `Settings that are outdated name another address or token than the gateway has; write them anew: clew connect ${outdated.id} --write`,
      );
    output.note(
      '"clew connect NAME" prints what a client needs, --write writes it, --undo takes it out.',
    );
  }
  return EXIT.done;
}

/**
 * "changed": it was connected, and says something else by now. "outdated": it says what was
 * written, and the gateway has another address or wants to be shown another token since.
 * "unreadable": nobody can tell, nor write it, and `why` says what has to be done first.
 */
async function stateOf(
  client: ConnectClient,
  { placed, connection }: { placed: readonly PlacedFile[]; connection: Connection },
  { home }: Environment,
): Promise<{ state: "yes" | "no" | "changed" | "outdated" | "unreadable"; why?: string }> {
  const whys = await Promise.all(placed.map(whyUnusable));
  const why = whys.find((each) => each !== null);
  if (why != null) return { state: "unreadable", why };
  const texts = await Promise.all(placed.map(({ path }) => readClientFile(path).catch(() => null)));
  const known = await readRecord(home, client.id).catch(() => []);
  const isSet =
    known.length > 0 &&
    known.every(({ path, after }) => {
      const at = placed.findIndex((each) => each.path === path);
      return at >= 0 && texts[at] === after;
    });
  if (placed.every((file, at) => saysAll(texts[at]!, file))) return { state: "yes" };
  // With another model than the usual one it says other things, but these.
  const needed = [connection.base, ...(connection.token === null ? [] : [connection.token])];
  if (!isSet) return { state: known.length > 0 ? "changed" : "no" };
  const isCurrent = needed.every((each) => texts.join("\n").includes(each));
  return { state: isCurrent ? "yes" : "outdated" };
}
