// What a gateway knows of where its sessions are kept.

import type { LogPort } from "@clew/engine-core";
import type { EngineRows } from "@clew/plugin-sdk/core";
import type { Environment } from "../config/environment.ts";
import type { Config } from "../config/schema.ts";
import type { OtherCosts } from "../costs/all-costs.ts";
import type { OtherTotals } from "../costs/other-totals.ts";
import type { JobStore } from "../cron/job-store.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Series } from "../metrics/series.ts";
import type { Peers } from "../peers/peers.ts";
import type { SessionSearch } from "../sessions/search/session-search.ts";
import type { SessionStore } from "../sessions/store.ts";
import type { SharedChildren } from "../subagents/shared-children.ts";
import type { SharedWaiting, WaitingStore } from "../waiting/waiting-store.ts";
import type { DoorJournals } from "./door-journals.ts";

/** What storage is opened by. */
export interface StorageRequest {
  environment: Environment;
  config: Config;
  /** Where others reach this gateway, unless the settings say. Absent: it only reads. */
  address?: string;
  /** Absent: nobody reads it. */
  log?: LogPort;
}

export interface Storage {
  /** Sessions, wherever they are. */
  readonly sessions: SessionStore;
  /** Finds what was said in them. */
  readonly search: SessionSearch;
  /**
   * The folder whose `agents` hold session files and turn reports: the home, or copies of what is
   * kept elsewhere.
   */
  readonly records: string;
  /** Messages that wait for their turn. Undefined: they are in files of the home. */
  readonly waiting?: WaitingStore & { readonly shared: SharedWaiting };
  /** Jobs of people, and how far they are. */
  readonly jobs: JobStore;
  /** What is known of child sessions. Undefined: it is in files of the home. */
  readonly children?: SharedChildren;
  /** Hands work to all gateways of the storage. Undefined: this one alone has some. */
  readonly queue?: Jobs;
  /** What was asked of where sessions are. Undefined: that is not counted. */
  readonly counts?: Series;
  /** Undefined: it is that of the home. */
  readonly room?: StorageRoom;
  /** What the door knows of sessions. Undefined: it is beside their files. */
  readonly journals?: DoorJournals;
  /** What engines keep beside sessions. Undefined: what they have of a session stays with them. */
  readonly engineRows?: EngineRows;
  /** What other gateways wrote down of model calls. Undefined: there is no other one. */
  readonly otherCosts?: OtherCosts;
  /** What that comes to. Undefined: there is no other one, or this process counts nothing. */
  readonly otherTotals?: OtherTotals;
  /**
   * Brings what this one wrote down to where others read it. Never rejects. Undefined: as above.
   */
  shareCosts?(): Promise<void>;
  /** Undefined: sessions are in files of the home, which no other gateway has. */
  readonly cluster?: StorageCluster;
}

/** Whether there is room where sessions are. */
export interface StorageRoom {
  /** One sentence; undefined: there is, as far as anybody knows. */
  whyNot(): Promise<string | undefined>;
}

/** Sessions for a command that changes some of them. */
export interface ChangeableSessions {
  readonly sessions: SessionStore;
  /**
   * Gives a session a name beside its key, or with null takes it away. False: there is no such
   * session. Throws REQUEST_INVALID for a name that another one has.
   */
  label(key: string, label: string | null): Promise<boolean>;
  /** As of `Storage`. */
  shareCosts?(): Promise<void>;
  close(): Promise<void>;
}

/** How a session stands in the cluster. */
export interface Standing {
  /** Address of the gateway that has it open; null: none that lives. */
  owner: string | null;
  /** A turn has begun in it, and not ended. */
  isInTurn: boolean;
  /** The message that was asked for waits. */
  isKept: boolean;
}

/** Where requests at the door are answered. */
export interface DoorPlaces {
  /**
   * Address of another gateway that has the door, or "here", for as long as this one lives; null:
   * nobody has it for a moment. Where nobody who lives has it, this gateway takes it.
   */
  take(): Promise<string | null>;
  /** True: this gateway took it. */
  readonly isHere: boolean;
  /** How long it may take until another one has it, ms. */
  readonly patienceMs: number;
}

/** Other gateways may have sessions of the same storage. */
export interface StorageCluster {
  /** Fires when this gateway may no longer act, as others may have taken its sessions. */
  readonly alive: AbortSignal;
  /** Address of the gateway that has a session open; null: none that lives. Keys are canonical. */
  ownerOf(key: string): Promise<string | null>;
  /**
   * How a session stands, and whether a message of this name is kept for it, as one question a tick
   * tells all who wait. Rejects where the database does not answer, and when the signal fires.
   */
  look(key: string, options: { name: string | null; signal: AbortSignal }): Promise<Standing>;
  /** Who answers clients of the door whose history is their own: one gateway at a time. */
  readonly door: DoorPlaces;
  /**
   * The work of a start is done: from now on a gateway that is not heard of for too long ends.
   * Throws STORAGE_FAILED, SESSION_LOCKED.
   */
  settle(): Promise<void>;
  /** This gateway, as others are told of it. */
  readonly address: string;
  /** The other gateways. */
  readonly peers: Peers;
  /** Hands over all sessions of this gateway. */
  close(): Promise<void>;
}
