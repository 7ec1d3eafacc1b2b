// Goes on with a conversation by another wire, or in letters composed otherwise.
import { describe, expect, it } from "vitest";
import type { Said } from "../testing/conversation.ts";
import { PlayedDoor } from "../testing/play-door.ts";
import { writeRequest } from "../testing/write-request.ts";
import type { DoorApi } from "../wires/door-wire.ts";
import { DOOR_WIRES } from "../wires/find-wire.ts";

const APIS = Object.keys(DOOR_WIRES) as DoorApi[];

function startPlay() {
  const door = new PlayedDoor();
  const said: Said[] = [];
  /** What is new in the session's next turn, and its reply. */
  const turn = (api: DoorApi, round: number, written = (text: string) => text) => {
    const reply = `Réponse number ${round}: the façade is as long as a reply that tells whose it is.`;
    said.push({ uid: null, by: "person", text: `Où number ${round}?` });
    const told = said.map((one) => ("text" in one ? { ...one, text: written(one.text) } : one));
    const request = writeRequest(api, told, { model: "m", head: ["Be brief."], tools: [] });
    const handled = door.request(api, { request, headers: {} });
    door.reply(handled, { text: reply, thinking: "", calls: [] });
    said.push({ uid: null, by: "model", text: reply, calls: [] });
    return { session: handled.session, fresh: handled.plan.fresh };
  };
  return turn;
}

const MOVES = APIS.flatMap((from) => APIS.filter((to) => to !== from).map((to) => [from, to]));

describe("a conversation in words", () => {
  it.each(MOVES)("that moves from %s to %s and back stays one session", (from, to) => {
    const turn = startPlay();
    const turns = [from!, to!, to!, from!].map((api, round) => turn(api, round));
    const [{ session } = turns[0]!] = turns;
    expect(turns).toEqual([0, 2, 4, 6].map((fresh) => ({ session, fresh: [fresh] })));
  });

  it.each(APIS)("whose client composes letters otherwise stays one session by %s", (api) => {
    const turn = startPlay();
    const turns = [0, 1, 2, 3].map((round) =>
      turn(api, round, (text) => text.normalize(round % 2 === 0 ? "NFC" : "NFD")),
    );
    const [{ session } = turns[0]!] = turns;
    expect(turns).toEqual([0, 2, 4, 6].map((fresh) => ({ session, fresh: [fresh] })));
  });
});
