// Checks every session file of every agent and repairs what it can without loss.
import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { pause } from "@clew/plugin-sdk/host";
import { TRANSCRIPT_VERSION, type TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { lookAtLines } from "@clew/transcript-policy/session-file";
import { isInForce, type LockOwner, readOwner } from "../locks/lock.ts";
import { checkpointFile, readCheckpoint } from "../sessions/checkpoint.ts";
import { completeIndex, listTranscripts, readIndex, writeIndex } from "../sessions/index-file.ts";
import { isSafeId } from "../sessions/keys.ts";
import { describeNote, repairedParts } from "../sessions/notes.ts";
import { openSession } from "../sessions/open.ts";
import { agentPaths, fileOf } from "../sessions/paths.ts";
import { readSessionFile } from "../sessions/read-file.ts";
import { lookForDamage } from "../sessions/repair.ts";
import { storageReason } from "../storage-reason.ts";
import { notEntries } from "../text/not-entries.ts";
import { counted } from "../text/number.ts";
import { type CheckedRecord, checkRecord, findParkedTurns } from "./check-deliveries.ts";
import { checkKeptAside } from "./check-kept-aside.ts";
import { checkMissing, planSuspect, type Suspect } from "./check-missing.ts";
import { describeReports, NO_REPORTS, readAllReports } from "./check-reports.ts";
import { checkWaiting } from "./check-waiting.ts";
import { describeOpen } from "./describe-open.ts";
import type { Finding, FindingCode } from "./finding.ts";

interface SessionsRequest {
  home: string;
  fix: boolean;
  /** True: files are what is left of them, and how many there are says nothing. */
  areInDatabase?: boolean;
  /** Ends it between two sessions. Absent: nothing does. */
  signal?: AbortSignal;
}

export async function checkSessions(request: SessionsRequest): Promise<Finding[]> {
  const agents = await readdir(join(request.home, "agents")).catch(() => []);
  const found: Finding[] = [];
  for (const agentId of agents.filter(isSafeId))
    found.push(...(await checkAgent(request, agentId)));
  return found;
}

async function checkAgent(
  { home, fix, areInDatabase = false, signal }: SessionsRequest,
  agentId: string,
): Promise<Finding[]> {
  const { sessions, reports, index, outbox, waiting } = agentPaths(home, agentId);
  const ids = await listTranscripts(sessions);
  const findings: Finding[] = [];
  let entries = 0;
  const uncounted = { open: 0, damaged: 0 };
  const open = new Map<number, string[]>();
  const there = await filesIn(sessions, outbox);
  const told = await readAllReports(reports, signal);
  const suspects = new Map<string, Suspect>();
  for (const sessionId of ids) {
    await pause(signal);
    const files = { file: fileOf(sessions, sessionId), record: fileOf(outbox, sessionId) };
    const looked = await checkFile({ ...files, agentId, sessionId, fix }, there);
    if (typeof looked.entries === "number") entries += looked.entries;
    else uncounted[looked.entries]++;
    if (looked.openIn !== undefined)
      open.set(looked.openIn, [...(open.get(looked.openIn) ?? []), sessionId]);
    findings.push(...looked.findings);
    const ofIt = told.has(sessionId) ? told.get(sessionId)! : NO_REPORTS;
    const suspect = ofIt && planSuspect(sessionId, looked.content ?? [], ofIt);
    if (suspect) suspects.set(sessionId, suspect);
  }
  findings.push(...describeOpen(open, agentId));
  const stored = await readIndex(home, agentId);
  const complete = await completeIndex(home, agentId, stored ?? {});
  const missing = Object.keys(complete).length - Object.keys(stored ?? {}).length;
  if (missing > 0) {
    if (fix) await writeIndex(home, agentId, complete);
    findings.push(
      repaired(fix, {
        codes: { found: "index-incomplete", repaired: "index-rebuilt" },
        subject: `session index of ${agentId}`,
        problem: `${index} lacks ${missing} of ${ids.length} sessions`,
        how: `${index} lacked ${missing} of ${ids.length} sessions: rebuilt from the files`,
      }),
    );
  }
  const recorded = Object.entries(complete).filter(([, { sessionId }]) =>
    there.has(fileOf(outbox, sessionId)),
  );
  findings.push(...(await findParkedTurns(home, agentId, Object.fromEntries(recorded))));
  findings.push(...describeReports(told, agentId));
  const named = Object.entries(complete).flatMap(([key, { sessionId }]) => {
    const suspect = suspects.get(sessionId);
    return suspect === undefined ? [] : [{ ...suspect, key }];
  });
  findings.push(...(await checkMissing(named, { home, folder: reports })));
  findings.push(...(await checkKeptAside({ folder: sessions, agentId, fix })));
  findings.push(...(await checkWaiting(waiting, agentId)));
  if (fix) await removeDrafts(sessions);
  if (areInDatabase) return findings;
  return [
    {
      level: "ok",
      code: "sessions",
      subject: `sessions of ${agentId}`,
      text: countsOf({ transcripts: ids.length, entries, ...uncounted }),
    },
    ...findings,
  ];
}

/** What was not looked at is not counted as nothing. */
function countsOf(seen: {
  transcripts: number;
  open: number;
  damaged: number;
  entries: number;
}): string {
  const { transcripts, open, damaged, entries } = seen;
  const all = counted(transcripts, "transcript");
  const inside = entries === 1 ? "1 entry" : `${entries} entries`;
  const others = [
    ...(open > 0 ? [`${open} open and not looked at`] : []),
    ...(damaged > 0 ? [`${damaged} not counted before the repair`] : []),
  ].join(", ");
  if (others === "") return `${all}, ${inside}`;
  if (open === transcripts) return `${all}, open and not looked at`;
  return open + damaged === transcripts
    ? `${all}: ${others}`
    : `${all}: ${others}, ${inside} in the others`;
}

interface SessionFiles {
  /** The transcript. */
  file: string;
  /** What engines acknowledged. */
  record: string;
  agentId: string;
  sessionId: string;
}

/** How many, or why they were not counted. */
type Entries = number | "open" | "damaged";

interface CheckedFile {
  entries: Entries;
  findings: Finding[];
  /** The process that has it. Absent: none has. */
  openIn?: number;
  content?: readonly TranscriptEntry[];
}

async function checkFile(
  { fix, ...files }: SessionFiles & { fix: boolean },
  there: ReadonlySet<string>,
): Promise<CheckedFile> {
  const { file, record, sessionId } = files;
  const subject = `session ${sessionId}`;
  const lockFile = `${file}.lock`;
  const owner = there.has(lockFile) ? await readOwner(lockFile) : null;
  if (owner !== null && (await isInForce(owner)))
    return { entries: "open", findings: [], openIn: owner.pid };
  const looked = await lookInto(file);
  if (looked.kind === "unreadable") {
    const text = `${file} cannot be read: ${looked.reason}; make it readable, or move it away`;
    return {
      entries: 0,
      findings: [{ level: "failure", code: "session-unreadable", subject, text }],
    };
  }
  if (looked.kind === "not-a-transcript") {
    const text = `${file} is not a transcript: ${looked.reason}; move it away`;
    const code = "session-not-a-transcript";
    return { entries: 0, findings: [{ level: "failure", code, subject, text }] };
  }
  let { entries } = looked;
  const { skippedLines } = looked;
  const findings: Finding[] = [];
  if (skippedLines.length > 0) {
    const text = `${notEntries(skippedLines, file)}: skipped, and kept`;
    findings.push({ level: "warning", code: "session-unreadable-lines", subject, text });
  }
  const lock = owner === null ? [] : [describeStaleLock(owner)];
  const problems = [...lock, ...looked.problems];
  if (problems.length > 0) {
    const how = fix ? await repairByOpening(files, { deliveries: false }) : "";
    const codes = { found: "session-damaged", repaired: "session-repaired" } as const;
    findings.push(repaired(fix, { codes, subject, problem: problems.join(", "), how }));
    if (fix) entries = await countAgain(file, entries);
  }
  if (there.has(checkpointFile(file)) && (await readCheckpoint(file)).kind === "damaged") {
    if (fix) await rm(checkpointFile(file), { force: true });
    const codes = {
      found: "session-checkpoint-damaged",
      repaired: "session-checkpoint-removed",
    } as const;
    const problem = `${checkpointFile(file)} is not as it was written, and not used`;
    const how = `${checkpointFile(file)} was not as it was written: removed; opening the session makes another`;
    findings.push(repaired(fix, { codes, subject, problem, how }));
  }
  const about: CheckedRecord = there.has(record) ? await checkRecord(record) : { kind: "in-order" };
  if (about.kind === "unreadable")
    findings.push({ level: "warning", code: "deliveries-unreadable", subject, text: about.text });
  if (about.kind === "damaged") {
    const codes = { found: "deliveries-damaged", repaired: "deliveries-repaired" } as const;
    const how = fix ? await repairByOpening(files, { deliveries: true }) : "";
    findings.push(repaired(fix, { codes, subject, problem: about.problem, how }));
  }
  return { entries, findings, content: looked.content };
}

/** What is not there need not be asked for, ten thousand times. */
async function filesIn(...folders: readonly string[]): Promise<ReadonlySet<string>> {
  const names = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder).catch(() => [])).map((name) => join(folder, name)),
    ),
  );
  return new Set(names.flat());
}

async function countAgain(file: string, before: Entries): Promise<Entries> {
  const looked = await lookInto(file);
  return looked.kind === "transcript" ? looked.entries : before;
}

const describeStaleLock = ({ pid, isCopy }: LockOwner) =>
  isCopy
    ? "its lock was copied with it from another folder"
    : `its lock was left by process ${pid}, which is gone`;

type LookedInto =
  | { kind: "unreadable"; reason: string }
  | { kind: "not-a-transcript"; reason: string }
  | {
      kind: "transcript";
      entries: Entries;
      /** The entries, of every branch; nobody knows those of a damaged one. */
      content: readonly TranscriptEntry[];
      /** What opening it would repair. */
      problems: string[];
      /** Lines that no repair takes out. */
      skippedLines: readonly number[];
    };

async function lookInto(file: string): Promise<LookedInto> {
  const look = lookAtLines(basename(file));
  // Nobody else has a turn to wait for, and ways to other threads would take most of the time.
  const reading = { look, atOnce: true };
  const parsed = await readSessionFile(file, reading).catch((error: unknown) =>
    storageReason(error),
  );
  if (typeof parsed === "string") return { kind: "unreadable", reason: parsed };
  const damage = (await look.isOrderly()) ? undefined : await lookForDamage(file);
  const isDamaged = damage?.code === "dry-run";
  const repairs = isDamaged ? [`it needs repair: ${repairedParts(damage).join(", ")}`] : [];
  if (parsed.kind === "not-a-transcript")
    return isDamaged
      ? { kind: "transcript", entries: "damaged", content: [], problems: repairs, skippedLines: [] }
      : parsed;
  const cutOff = parsed.fileBytes - (parsed.kind === "empty" ? 0 : parsed.content.goodBytes);
  const problems = cutOff > 0 ? [`it ends with an interrupted write of ${cutOff} bytes`] : [];
  if (parsed.kind === "empty")
    return { kind: "transcript", entries: 0, content: [], problems, skippedLines: [] };
  const { version, entries, unreadableLines } = parsed.content;
  if (version < TRANSCRIPT_VERSION) problems.push(`it has the older format ${version}`);
  const skippedLines = isDamaged ? [] : unreadableLines;
  return {
    ...{ kind: "transcript", entries: entries.length, content: entries, skippedLines },
    problems: [...problems, ...repairs],
  };
}

/** Opening a session repairs it; what was cut off is kept beside it. */
async function repairByOpening(
  { file, record, agentId, sessionId }: SessionFiles,
  { deliveries }: { deliveries: boolean },
): Promise<string> {
  const sessionKey = `agent:${agentId}:${sessionId}`;
  const session = await openSession({
    session: { agentId, sessionId, sessionKey, sessionFile: file },
    cwd: "",
    ...(deliveries && { deliveriesFile: record }),
  });
  await session.close();
  return session.notes
    .filter(({ kind }) => kind !== "unreadable-lines")
    .map(describeNote)
    .join(" ");
}

interface Repairable {
  codes: { found: FindingCode; repaired: FindingCode };
  subject: string;
  problem: string;
  /** What was done, in whole sentences or a few words; empty = the problem says it. */
  how: string;
}

function repaired(fix: boolean, { codes, subject, problem, how }: Repairable): Finding {
  return fix
    ? {
        ...{ level: "note", code: codes.repaired, subject, isRepair: true },
        text: how || `${problem}: repaired`,
      }
    : {
        ...{ level: "warning", code: codes.found, subject },
        text: `${problem}; run "clew doctor --fix"`,
      };
}

/** Left by a process that died between making a lock and taking it. */
async function removeDrafts(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.includes(".lock.draft-"))) {
    const owner = await readOwner(join(folder, name));
    if (owner === null || !(await isInForce(owner))) await rm(join(folder, name), { force: true });
  }
}
