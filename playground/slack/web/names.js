// Who and what an id stands for, as far as the person sees it.

let live = null;

export function useNames(source) {
  live = source;
}

export const findPerson = (id) => live?.get(`person/${id}`);
export const findRoom = (id) => live?.get(`room/${id}`);
export const listPeople = () => (live ? live.list("person/").map(([, person]) => person) : []);
