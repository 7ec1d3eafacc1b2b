// What a gateway and the process that plays for it tell each other.
import type { LoadedConfig } from "../config/load.ts";
import type { ShadowJob } from "./shadow-player.ts";
import type { WhatIfAsk, WhatIfEvent } from "./shapes.ts";

/** What both kinds of work need; nothing of it is a function. */
export interface LabSettings {
  home: string;
  configFile: string;
  /** Settings in force in the gateway. */
  loaded: Pick<LoadedConfig, "config" | "raw">;
}

/** A session to be played once. */
export interface PlayOrder extends LabSettings {
  kind: "what-if";
  session: string;
  /** An empty folder; the gateway removes it. */
  place: string;
  ask: WhatIfAsk;
}

/** What shadows go by. */
export interface ShadowSettings extends LabSettings {
  kind: "settings";
  /** As of `Storage`. */
  records: string;
}

export type LabOrder =
  | PlayOrder
  /** Comes first where shadows are played. */
  | ShadowSettings
  | { kind: "shadow"; job: ShadowJob };

export type LabTold =
  | WhatIfEvent
  /** A turn of a shadow is stored; more may follow. */
  | { type: "turn" }
  /** All that the shadow was to play is stored. */
  | { type: "played" };
