// Puts a backup in the place of a database, and keeps what stood there.
import { rmSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { type Verification, verifyStore } from "../audit/verify.ts";
import { ownerOf } from "../sessions/owner.ts";
import { storageError, storageFailure } from "../store/failure.ts";
import { makeFolder } from "../store/make-folder.ts";
import { moveOwners, ownersOf } from "../store/owners.ts";
import { isInUse, replaceDatabase } from "../store/replace.ts";
import { copyOfOurs } from "../store/snapshot.ts";
import { type Store, useStore } from "../store/store.ts";
import { namesIn, stampOf } from "./backups.ts";
import { counted } from "./describe-store.ts";
import { type KeptOut, keepOut } from "./keep-out.ts";
import { planOwners } from "./plan-owners.ts";
import { auditOptions, type OperatingOptions } from "./progress.ts";

/** What is to be restored, and where. */
export interface RestoreRequest extends OperatingOptions {
  /** Path of the backup, which stays as it is. */
  readonly from: string;
  /** Path of the database. Another program may not have it open. */
  readonly file: string;
  /** Folders of the agents that keep their sessions in it. */
  readonly agentDirs: readonly string[];
  /** True: also a backup that is not as it was stored. Absent: that is refused. */
  readonly force?: boolean | undefined;
  /** ms since the epoch. */
  readonly now: number;
}

/** What was restored. */
export interface Restored {
  /** Path of the database. */
  readonly file: string;
  /** Where the database is that stood there. Null: none did. */
  readonly kept: string | null;
  /** What auditing the backup came to. */
  readonly verification: Verification;
  /** Whose sessions became whose, as folders seen from the database. */
  readonly moves: readonly { readonly from: string; readonly to: string }[];
  /** Owners that are no agent here: their sessions are found by `allConversations` only. */
  readonly strangers: readonly string[];
  /** What was forgotten since, and stayed out. */
  readonly forgotten: KeptOut;
  /** All of it for people. */
  readonly text: string;
}

/**
 * The backup is copied, brought to this version and checked first; until then nothing is changed.
 * Throws FILE_NOT_FOUND, REQUEST_INVALID, STORAGE_FAILED.
 */
export async function restoreStore(request: RestoreRequest): Promise<Restored> {
  const file = resolve(request.file);
  const from = resolve(request.from);
  const { agentDirs, force = false, now } = request;
  refuseWrong(from, file);
  refuseInUse(file);
  const restoring = `${file}.restoring`;
  try {
    removeAll(restoring);
    makeFolder(dirname(file));
    await copyOfOurs(from, restoring, {
      signal: request.signal,
      onProgress: (done, of) => request.onProgress?.({ part: "copying pages", done, of }),
    });
    const checked = await prepare(restoring, { ...request, from, file, agentDirs, force });
    refuseInUse(file);
    const kept = replaceDatabase(file, restoring, `${file}.replaced-${stampOf(now)}`);
    return { file, kept, ...checked, text: describe({ from, file, kept, ...checked }) };
  } catch (error) {
    throw storageFailure(file, error);
  } finally {
    removeAll(restoring);
  }
}

function refuseWrong(from: string, file: string): void {
  const found = statSync(from, { throwIfNoEntry: false });
  if (found === undefined)
    throw new ContextEngineError("FILE_NOT_FOUND", `There is no backup ${from}; check the path.`);
  if (!found.isFile())
    throw new ContextEngineError("REQUEST_INVALID", `${from} is no file; name a backup.`);
  if (from === file)
    throw new ContextEngineError(
      "REQUEST_INVALID",
      `${from} is the database itself, which nothing has to be restored to; name a backup.`,
    );
}

function refuseInUse(file: string): void {
  if (isInUse(file))
    throw storageError(
      `The database ${file} was not replaced, as another program has it open; stop the gateway first.`,
    );
}

type Checked = Pick<Restored, "verification" | "moves" | "strangers" | "forgotten">;

/** The copy is another version, and another agent's, until now. */
async function prepare(
  restoring: string,
  { from, file, agentDirs, force, ...options }: RestoreRequest & { force: boolean },
): Promise<Checked> {
  const { store, release } = useStore(restoring);
  try {
    const verification = await verifyStore(store, auditOptions(options));
    const [first] = verification.faults;
    if (first !== undefined && !force)
      throw storageError(
        `${from} was not restored: ${counted(verification.faults.length, "thing")} in it ${verification.faults.length === 1 ? "is" : "are"} not as stored (${first.text}); restore an older backup, or force this one.`,
      );
    const owners = giveToAgents(store, file, agentDirs);
    return { verification, ...owners, forgotten: await keepOut(store, file) };
  } finally {
    release();
  }
}

function giveToAgents(store: Store, file: string, agentDirs: readonly string[]) {
  const agents = agentDirs.map((agentDir) => ({ agentDir, owner: ownerOf(agentDir, file) }));
  const plan = planOwners(ownersOf(store), agents);
  moveOwners(store, plan.moves);
  return plan;
}

function describe({
  from,
  file,
  kept,
  verification: { messages, faults },
  strangers,
  forgotten,
}: Checked & { from: string; file: string; kept: string | null }): string {
  return [
    `Restored ${file} from ${from}: ${counted(messages, "message")}${faults.length === 0 ? ", all as they were stored" : `, with ${counted(faults.length, "fault")}`}.`,
    ...(kept === null ? [] : [`What stood there is kept in ${kept}.`]),
    ...strangers.map(
      (owner) => `Sessions of ${owner} are no agent's here; allConversations finds them.`,
    ),
    ...describeKeptOut(forgotten, from),
    "What the session files hold beyond it is read when their sessions go on.",
  ].join("\n");
}

function describeKeptOut({ messages, unknown }: KeptOut, from: string): string[] {
  return [
    ...(messages === 0
      ? []
      : [
          `${counted(messages, "message")} that ${messages === 1 ? "was" : "were"} forgotten since stayed out; ${from} holds ${messages === 1 ? "it" : "them"} still, so delete it once it has served.`,
        ]),
    ...(unknown === null ? [] : [`${unknown} Look for it, and have it forgotten again.`]),
  ];
}

/** With its journals, and the copy that bringing it to a newer version leaves. */
function removeAll(restoring: string): void {
  const [folder, name] = [dirname(restoring), basename(restoring)];
  for (const found of namesIn(folder))
    if (found.startsWith(name)) rmSync(join(folder, found), { force: true });
}
