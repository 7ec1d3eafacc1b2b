// What is twice or out of order in a list of events.

export const repeated = (events: readonly string[]) =>
  events.filter((event, index) => events.indexOf(event) !== index && !isSummary(event));

const isSummary = (event: string) =>
  event === "compactionSummary" || event === "branchSummary" || event.startsWith("custom");

/** Members of `events` that stand before something that is older in `order`. */
export function outOfOrder(events: readonly string[], order: readonly string[]): string[] {
  const places = events.map((event) => order.indexOf(event));
  return events.filter((_, index) => {
    const place = places[index]!;
    return place >= 0 && places.slice(index + 1).some((later) => later >= 0 && later < place);
  });
}
