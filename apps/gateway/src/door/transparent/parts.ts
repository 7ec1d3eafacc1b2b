// Names what an answer to a whole history is made with.
import type { DoorParts } from "../call/parts.ts";
import type { DoorMemory } from "../memory/door-memory.ts";
import type { LookUp } from "../recall/look-up.ts";
import type { Recorder } from "../record/recorder.ts";
import type { AskAcross } from "../upstream/reach.ts";

export interface TransparentParts extends DoorParts {
  across: AskAcross;
  memory: DoorMemory;
  recorder: Recorder;
  lookUp: LookUp;
  /** The session's client goes on by all that was said: nobody brings what is waited for there. */
  goOnWithout(key: string): void;
}
