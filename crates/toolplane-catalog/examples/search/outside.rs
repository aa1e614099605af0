//! What is compared with: tantivy, the index many would take instead, over name, namespace and description, with English endings,
//! in memory.

use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, Occur, Query, TermQuery};
use tantivy::schema::{Field, IndexRecordOption, STORED, Schema, TextFieldIndexing, TextOptions, Value as _};
use tantivy::tokenizer::TokenizerManager;
use tantivy::{Index, IndexReader, IndexWriter, Searcher, TantivyDocument, Term};

/// Memory of the writer: the least that tantivy takes for one thread.
const WRITER_BYTES: usize = 15_000_000;
const ENGLISH: &str = "en_stem";

/// An index of tantivy.
pub(crate) struct Tantivy {
    reader: IndexReader,
    writer: IndexWriter,
    words: Field,
    place: Field,
}

impl Tantivy {
    pub(crate) fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut schema = Schema::builder();
        let indexing =
            TextFieldIndexing::default().set_tokenizer(ENGLISH).set_index_option(IndexRecordOption::WithFreqs);
        let words = schema.add_text_field("words", TextOptions::default().set_indexing_options(indexing));
        let place = schema.add_u64_field("place", STORED);
        let index = Index::create_in_ram(schema.build());
        let writer = index.writer_with_num_threads(1, WRITER_BYTES).expect("a writer");
        let reader = index.reader().expect("a reader");
        let mut made = Self { reader, writer, words, place };
        (0..).zip(texts).for_each(|(place, text)| made.insert(place, text));
        made.show();
        made
    }

    fn insert(&mut self, place: u64, text: &str) {
        let mut document = TantivyDocument::new();
        document.add_text(self.words, text);
        document.add_u64(self.place, place);
        self.writer.add_document(document).expect("a document is taken");
    }

    /// Everything that was inserted can be found.
    fn show(&mut self) {
        self.writer.commit().expect("a commit");
        self.reader.reload().expect("a new view");
    }

    /// One more text, until it can be found.
    pub(crate) fn add(&mut self, place: u64, text: &str) {
        self.insert(place, text);
        self.show();
    }

    /// The best `limit` texts by place, best first.
    pub(crate) fn ask(&self, question: &str, limit: usize) -> Vec<u64> {
        let searcher = self.reader.searcher();
        let query = self.query(question);
        let found = searcher.search(&query, &TopDocs::with_limit(limit).order_by_score()).expect("an answer");
        found.into_iter().map(|(_, address)| self.place_of(&searcher, address)).collect()
    }

    fn place_of(&self, searcher: &Searcher, address: tantivy::DocAddress) -> u64 {
        let document: TantivyDocument = searcher.doc(address).expect("a document");
        document.get_first(self.place).and_then(|place| place.as_u64()).expect("its place")
    }

    /// Any of the words, as its own parser asks for them.
    fn query(&self, question: &str) -> BooleanQuery {
        let mut analyzer = TokenizerManager::default().get(ENGLISH).expect("English");
        let mut tokens = analyzer.token_stream(question);
        let mut any: Vec<(Occur, Box<dyn Query>)> = Vec::new();
        while let Some(token) = tokens.next() {
            let term = Term::from_field_text(self.words, &token.text);
            any.push((Occur::Should, Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))));
        }
        BooleanQuery::new(any)
    }
}
