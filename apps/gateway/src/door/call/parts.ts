// What the door works with.
import type { LogPort } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { defaultAgentId } from "../../config/agent.ts";
import type { Config } from "../../config/schema.ts";
import type { Host } from "../../host/host.ts";
import type { SentResult } from "../../waiting/item.ts";
import type { SendRequest } from "../../waiting/send-request.ts";
import type { RepliesUnderWay } from "./under-way.ts";

export interface DoorParts {
  host: Host;
  log: LogPort;
  home: string;
  /** Of the gateway, with which clients sign in: they go nowhere. */
  tokens: readonly string[];
  sessions: DoorSessions;
  underWay: RepliesUnderWay;
  /** ms since the epoch. */
  now: () => number;
  newId: () => string;
}

/** What the door reaches of Clew's sessions; keys are canonical. */
export interface DoorSessions {
  send: (request: SendRequest) => Promise<SentResult>;
  /** Whether there is such a session. Undefined: nobody else can have deleted it meanwhile. */
  isThere(key: string): Promise<boolean> | undefined;
  /** What the session's last call held, with its reply; undefined: there was none. */
  tokensIn(key: string): Promise<number | undefined>;
  /** The session as it is now; empty where there is none. */
  branch(key: string): Promise<readonly TranscriptEntry[]>;
  /** Where a person's message stands in the session now. */
  placeOf(key: string, entryId: string): Promise<"newest" | "earlier" | "nowhere">;
}

/** Whose sessions the clients' are. */
export const doorAgent = (config: Config): string => config.door.agent ?? defaultAgentId(config);
