import { cp } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { idOfHome } from "./home-id.ts";

it("a home keeps its name, and a copy of it gets another one", async () => {
  const home = await temporaryHome();
  const id = await idOfHome(home);
  expect(await idOfHome(home)).toBe(id);
  const copy = join(await temporaryHome(), "copy");
  await cp(home, copy, { recursive: true });
  const other = await idOfHome(copy);
  expect(other).not.toBe(id);
  expect(await idOfHome(copy)).toBe(other);
  expect(await idOfHome(home)).toBe(id);
});
