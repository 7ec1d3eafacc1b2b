import { expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { createSessionStore } from "./store.ts";

/** Far more than is copied or written down in one piece. */
const MANY = 30_000;

it("others have their turn while a long history is taken in at once", async () => {
  const home = await temporaryHome();
  const store = createSessionStore({ home });
  const session = await store.open({ key: "main", cwd: home });
  let turn = 0;
  let isOver = false;
  const others = () => {
    turn++;
    if (!isOver) setImmediate(others);
  };
  setImmediate(others);
  /** In whose turns each message was read. */
  const read = new Set<number>();
  const said = (index: number) => ({
    role: "user" as const,
    timestamp: index,
    content: [
      {
        type: "text" as const,
        get text() {
          read.add(turn);
          return `message ${index}`;
        },
      },
    ],
  });
  const added = Array.from({ length: MANY }, (_, index) => ({
    type: "message" as const,
    message: said(index),
  }));
  const written = await session.append(added);
  isOver = true;
  await session.close();
  expect(written).toHaveLength(MANY);
  expect(read.size).toBeGreaterThan(2);
  const { branch } = (await store.read("main"))!;
  expect(branch.map(({ id }) => id)).toEqual(written.map(({ id }) => id));
});
