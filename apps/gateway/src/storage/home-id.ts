// Names a home for the record of what its engines were told.
import { randomUUID } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { makeOwnFolder } from "../home/no-links.ts";
import { writeOwn } from "../home/own-writes.ts";
import { isSafeId } from "../sessions/keys.ts";

/**
 * Made at the first start. A copy of a home gets another one: its engines are not told what those
 * of the original are from then on.
 */
export async function idOfHome(home: string): Promise<string> {
  const folder = join(home, "copies");
  const file = join(folder, "home-id");
  await makeOwnFolder(home, folder);
  const { ino } = await stat(home, { bigint: true });
  const [id = "", of] = (await readFile(file, "utf8").catch(() => "")).trim().split(" ");
  if (isSafeId(id) && of === String(ino)) return id;
  const made = randomUUID();
  await writeOwn(file, `${made} ${ino}\n`);
  return made;
}
