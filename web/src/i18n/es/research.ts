/** Spanish texts for research. */
export const research = {
  "research.mode.chat": "Investigación: desactivada",
  "research.mode.research": "Investigación",
  "research.mode.deep": "Investigación a fondo",
  "research.modeHint":
    "Busca, lee y escribe un informe con fuentes. Pulsa otra vez para investigar a fondo, y una más para desactivar.",
  "research.web": "Búsqueda web",
  "research.webShort": "Web",
  "research.webHint": "Busca en la web antes de responder y cita lo que encuentra.",
  "research.turn": "Ronda {turn}",
  "research.plan": "Revisa el plan",
  "research.planField": "Plan, un elemento por línea",
  "research.begin": "Empezar investigación",
  "research.skip": "Omitir revisión",
  "research.begun": "Revisión omitida.",
  "research.reportNow": "Escribir el informe ya",
  "research.reportNowHint": "Deja de buscar y escribe el informe con lo que tiene hasta ahora.",
  "research.sources": "Fuentes",
  "research.cited": "Citadas ({count})",
  "research.all": "Todas ({count})",
  "research.share": "{verified} de {count} citas coinciden palabra por palabra con su fuente.",
  "research.verified": "Verificada: la cita está en la fuente",
  "research.unverified": "Sin verificar: la cita no aparece en la fuente",
  "research.unconfirmed.number":
    "Cita encontrada, afirmación sin confirmar: falta en ella una cifra de la frase",
  "research.unconfirmed.negation":
    "Cita encontrada, afirmación sin confirmar: solo una de las dos está en forma negativa",
  "research.unconfirmed.name":
    "Cita encontrada, afirmación sin confirmar: falta en ella un nombre de la frase",
  "research.unconfirmed.quotation":
    "Cita encontrada, afirmación sin confirmar: no contiene las palabras entre comillas",
  "research.openSource": "Abrir la fuente",
  "research.openCopy": "Abrir en la cita",
  "research.newAddress":
    "Esta URL no viene de ti ni de una búsqueda. Las URL pueden filtrar lo que sabe el agente: revísala antes de permitirla.",
  "research.none": "No se citó ninguna fuente",
  "research.exportMarkdown": "Markdown",
  "research.exportPage": "HTML",
  "research.exportPdfHint": "Abre el cuadro de impresión del navegador: elige allí «Guardar como PDF».",
};
