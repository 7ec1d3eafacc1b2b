// What the gateway asks of a program that runs agents' turns.
import type { ExecutionPort, HostSession, LogPort } from "@clew/engine-core";
import type { Approvals } from "../approvals/queue.ts";
import type { ResolvedModel } from "../models/resolve.ts";

/** One turn's circumstances. */
export interface HarnessRequest {
  session: HostSession;
  /** The agent's folder, absolute; it is there. */
  workspace: string;
  /** Who should answer. */
  model: ResolvedModel;
  /** By which one signs in to its server. */
  signInHeaders: () => Promise<Record<string, string>>;
  /** Where people are asked. Absent: nobody is, and the answer is no. */
  approvals?: Approvals | undefined;
}

/** What was found out about a program without running a turn. */
export type HarnessCheck =
  | { ok: true; version: string; command: string }
  | { ok: false; code: "HARNESS_UNAVAILABLE"; message: string };

/** One program, for all agents whose settings name it. */
export interface Harness {
  /** As `agents.list[].harness` names it. */
  readonly id: string;
  readonly label: string;
  /** What runs the turns of one session. */
  port(request: HarnessRequest): ExecutionPort;
  /** Whether it is there and of a version that is supported. */
  check(): Promise<HarnessCheck>;
  /** What it holds of a session, for people; undefined: nothing. */
  describe(session: HostSession): Promise<string | undefined>;
  /** Ends every process that it began. */
  close(): Promise<void>;
}

export interface HarnessOptions {
  /** CLEW_HOME. */
  home: string;
  log: LogPort;
  /** What programs may be given of the gateway's environment. */
  env: NodeJS.ProcessEnv;
}
