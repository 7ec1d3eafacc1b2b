import { chmod, mkdir, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryHome } from "../testing/home.ts";
import { createHomeWrites } from "./can-write.ts";

async function start() {
  const home = await temporaryHome();
  let time = 0;
  const writes = createHomeWrites(home, () => time);
  const later = (ms: number) => {
    time += ms;
  };
  return { home, writes, later };
}

it("a home that can be written is, and nothing is left there", async () => {
  const { home, writes } = await start();
  const before = await readdir(home);
  expect(await writes.whyNot()).toBeUndefined();
  expect(await readdir(home)).toEqual(before);
});

it("a home that is gone is found two seconds later, and so is one that is there again", async () => {
  const { home, writes, later } = await start();
  expect(await writes.whyNot()).toBeUndefined();
  await rm(home, { recursive: true });
  later(1999);
  expect(await writes.whyNot()).toBeUndefined();
  later(1);
  expect(await writes.whyNot()).toMatch(/^The home cannot be written: .+; .+\.$/);
  await writeFile(home, "");
  later(2000);
  expect(await writes.whyNot()).toMatch(/^The home cannot be written/);
  await rm(home);
  await mkdir(home);
  later(2000);
  expect(await writes.whyNot()).toBeUndefined();
});

it("a link in its place is removed, and not written through", async () => {
  const { home, writes, later } = await start();
  const other = join(await temporaryHome(), "other");
  await symlink(other, join(home, ".can-write"));
  expect(await writes.whyNot()).toContain("link");
  later(2000);
  expect(await writes.whyNot()).toBeUndefined();
  await expect(readdir(other)).rejects.toThrow();
});

it.skipIf(process.getuid?.() === 0)("a home that may not be written is told so", async () => {
  const { home, writes } = await start();
  await chmod(home, 0o500);
  expect(await writes.whyNot()).toContain("permission denied");
  await chmod(home, 0o700);
});
