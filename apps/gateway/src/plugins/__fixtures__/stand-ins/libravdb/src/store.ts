// Stands in for the store of libravdb, in memory.

export interface Row {
  session: string;
  text: string;
}

export class Store {
  readonly rows: Row[] = [];

  // @ts-expect-error: what we do not write, and the real one does
  constructor(private readonly shortest = 4) {}

  add(row: Row): void {
    if (!this.rows.some(({ session, text }) => session === row.session && text === row.text))
      this.rows.push(row);
  }

  search(query: string): string[] {
    const words = query
      .toLowerCase()
      .split(/\W+/)
      .filter((word) => word.length >= this.shortest);
    return this.rows
      .filter(({ text }) => words.some((word) => text.toLowerCase().includes(word)))
      .map(({ text }) => text);
  }
}
