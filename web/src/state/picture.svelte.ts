/** The picture shown over the whole page. */

export interface Picture {
  src: string;
  name: string;
  /** A diagram, which stays sharp when it is enlarged. */
  isDrawing: boolean;
}

class Pictures {
  shown = $state.raw<Picture | null>(null);
}

export const pictures = new Pictures();
