// What a chat at a terminal needs of whoever holds its session.
import type { ApprovalAnswer } from "../../approvals/approval.ts";
import type { WhenBusy } from "../../config/when-busy.ts";
import type { Output } from "../../terminal/output.ts";
import type { Option } from "./menu.ts";

export interface ChatPort {
  /** Asks the HTTP API, wherever it is. Rejects when nobody answers. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** What became of it, where that is news: somebody may have been faster. */
  answer(id: string, answer: ApprovalAnswer): Promise<string | null>;
  /** Lets what waited when a process ended have its turn; how many messages did. */
  resume(key: string): Promise<number>;
  /** For people: where the session is held; null = in this process. */
  readonly place: string | null;
  /** Absolute; where paths of files begin. */
  readonly folder: string;
  /** Ends what belongs to this chat alone. `leaving` is aborted when the person waits no more. */
  close(output: Output, leaving: AbortSignal): Promise<void>;
}

export interface OpenedPort {
  port: ChatPort;
  /** Canonical key of what a person calls a session; undefined = that is no name. */
  keyOf(name: string): Promise<string | undefined>;
  /** What becomes of a message that comes while a reply is written. Absent: as the settings say. */
  whenBusy?: WhenBusy | undefined;
  /** What a person talks in who names no session. */
  mainSession: string;
  /** For the completion of names. */
  models(): Promise<readonly string[]>;
  commands(): Promise<readonly Option[]>;
}
