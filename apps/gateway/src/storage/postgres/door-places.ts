// Says which gateway of a database answers clients that bring their whole history.
import type { PostgresStore, SessionName } from "@clew/store-postgres";
import type { DoorPlaces } from "../storage.ts";
import { DOOR_ROWS } from "./door-rows.ts";

const DUTY = "door";

/** Beyond the time after which a gateway is dead, ms. */
const SPARE_MS = 5_000;

export interface StoredDoorPlaces extends DoorPlaces {
  /** Who is to have a session of the door that nobody has; null: it is none, or anybody. */
  ownerOf(name: SessionName): Promise<string | null>;
  /** True: a client of the door has it. */
  hasSession(name: SessionName): Promise<boolean>;
}

export function createDoorPlaces(
  store: Pick<PostgresStore<never>, "takeDuty" | "dutyOwner" | "hasEngineRows" | "alive">,
  { deadAfterMs }: { deadAfterMs: number },
): StoredDoorPlaces {
  let isHere = false;
  const hasSession = (name: SessionName) => store.hasEngineRows(name, DOOR_ROWS);
  return {
    hasSession,
    get isHere() {
      return isHere;
    },
    patienceMs: 2 * deadAfterMs + SPARE_MS,
    async take() {
      // Nobody takes it from who lives, and this gateway ends before others count it as dead.
      if (isHere) return "here";
      const place = await store.takeDuty(DUTY);
      if (place.kind === "other") return place.address;
      isHere = true;
      return "here";
    },
    async ownerOf(name) {
      if (isHere || !(await hasSession(name))) return null;
      return store.dutyOwner(DUTY);
    },
  };
}
