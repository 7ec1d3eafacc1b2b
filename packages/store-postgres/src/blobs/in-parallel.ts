// Does work for each of many, a few at a time.

/** Ends with the first that fails, when those under way are over. */
export async function inParallel<Item>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed: { error: unknown } | undefined;
  const one = async () => {
    while (next < items.length && failed === undefined) {
      const index = next++;
      try {
        await work(items[index]!, index);
      } catch (error) {
        failed ??= { error };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, one));
  if (failed !== undefined) throw failed.error;
}
