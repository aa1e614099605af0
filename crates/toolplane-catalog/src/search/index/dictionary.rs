//! Words in their order, each with what is known of it.

use std::sync::Arc;

use smol_str::SmolStr;

/// Most words of a bucket.
const BUCKET: usize = 128;

/// A sorted map in buckets. A copy shares its buckets until one of them changes, so that it costs little to take and to go on from.
#[derive(Clone, Debug)]
pub(in crate::search) struct Dictionary<V> {
    buckets: Vec<Arc<Bucket<V>>>,
    len: usize,
}

/// Words beside their values: who looks at the values alone walks over few bytes.
#[derive(Clone, Debug)]
pub(in crate::search) struct Bucket<V> {
    pub(in crate::search) words: Vec<SmolStr>,
    pub(in crate::search) values: Vec<V>,
}

impl<V> Default for Dictionary<V> {
    fn default() -> Self {
        Self { buckets: Vec::new(), len: 0 }
    }
}

impl<V: Clone> Dictionary<V> {
    pub(in crate::search) fn len(&self) -> usize {
        self.len
    }

    pub(in crate::search) fn get(&self, word: &str) -> Option<&V> {
        let bucket = self.buckets.get(self.bucket_of(word)?)?;
        let at = find(&bucket.words, word).ok()?;
        bucket.values.get(at)
    }

    pub(in crate::search) fn buckets(&self) -> impl Iterator<Item = &Bucket<V>> {
        self.buckets.iter().map(|bucket| &**bucket)
    }

    /// The words that begin with `prefix`, in their order.
    pub(in crate::search) fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a V)> {
        let first = self.bucket_of(prefix).unwrap_or(0);
        let buckets = self.buckets.iter().skip(first);
        let entries = buckets.flat_map(|bucket| bucket.words.iter().map(SmolStr::as_str).zip(&bucket.values));
        entries.skip_while(move |(word, _)| *word < prefix).take_while(move |(word, _)| word.starts_with(prefix))
    }

    /// Changes what is known of a word with `change`, or puts in `new`.
    pub(super) fn upsert(&mut self, word: &str, new: impl FnOnce() -> V, change: impl FnOnce(&mut V)) {
        let at = self.bucket_of(word).unwrap_or(0);
        match self.place(at, word) {
            Ok(value) => change(value),
            Err(within) => self.insert(at, within, word.into(), new()),
        }
    }

    /// The same for many words, which come in order; one may come several times.
    pub(super) fn merge<T>(
        &mut self,
        words: impl Iterator<Item = (SmolStr, T)>,
        new: impl Fn(T) -> V,
        change: impl Fn(&mut V, T),
    ) {
        let mut at = 0;
        for (word, told) in words {
            at = self.bucket_from(at, &word);
            match self.place(at, &word) {
                Ok(value) => change(value, told),
                Err(within) => self.insert(at, within, word, new(told)),
            }
        }
    }

    /// What is known of a word, or where in its bucket it would be.
    fn place(&mut self, at: usize, word: &str) -> Result<&mut V, usize> {
        let Some(bucket) = self.buckets.get_mut(at) else { return Err(0) };
        let within = find(&bucket.words, word)?;
        Arc::make_mut(bucket).values.get_mut(within).ok_or(within)
    }

    fn insert(&mut self, at: usize, within: usize, word: SmolStr, value: V) {
        self.len += 1;
        let Some(bucket) = self.buckets.get_mut(at) else {
            self.buckets.push(Arc::new(Bucket { words: vec![word], values: vec![value] }));
            return;
        };
        let bucket = Arc::make_mut(bucket);
        bucket.words.insert(within, word);
        bucket.values.insert(within, value);
        if bucket.words.len() > BUCKET {
            let (words, values) = (bucket.words.split_off(BUCKET / 2), bucket.values.split_off(BUCKET / 2));
            self.buckets.insert(at + 1, Arc::new(Bucket { words, values }));
        }
    }

    /// The bucket of a word that is in the bucket `from` or behind it, looked for from there in growing steps.
    fn bucket_from(&self, from: usize, word: &str) -> usize {
        let begins_before = |bucket: &Arc<Bucket<V>>| bucket.words.first().is_some_and(|first| first.as_str() <= word);
        let behind = self.buckets.get(from + 1..).unwrap_or_default();
        let mut step = 1;
        while behind.get(step - 1).is_some_and(begins_before) {
            step *= 2;
        }
        let (first, last) = (step / 2, behind.len().min(step));
        from + first + behind.get(first..last).unwrap_or_default().partition_point(begins_before)
    }

    /// Changes what is known of a word, and takes the word out where `change` says that nothing is left.
    pub(super) fn shrink(&mut self, word: &str, change: impl FnOnce(&mut V) -> bool) {
        let Some(at) = self.bucket_of(word) else { return };
        let Some(bucket) = self.buckets.get_mut(at) else { return };
        let Ok(within) = find(&bucket.words, word) else { return };
        let bucket = Arc::make_mut(bucket);
        if bucket.values.get_mut(within).is_some_and(change) {
            bucket.words.remove(within);
            bucket.values.remove(within);
            self.len -= 1;
            if bucket.words.is_empty() {
                self.buckets.remove(at);
            }
        }
    }

    /// Bytes of memory, with what `of_value` says each value has elsewhere.
    pub(super) fn heap_bytes(&self, of_value: impl Fn(&V) -> usize) -> usize {
        let text = |word: &SmolStr| if word.is_heap_allocated() { 16 + word.len() } else { 0 };
        let bucket = |bucket: &Bucket<V>| {
            let own = bucket.words.capacity() * size_of::<SmolStr>() + bucket.values.capacity() * size_of::<V>();
            let elsewhere =
                bucket.words.iter().map(text).sum::<usize>() + bucket.values.iter().map(&of_value).sum::<usize>();
            own + elsewhere + 64
        };
        self.buckets().map(bucket).sum::<usize>() + self.buckets.capacity() * size_of::<usize>()
    }

    /// The bucket a word is in, or would be.
    fn bucket_of(&self, word: &str) -> Option<usize> {
        let begins_before = |bucket: &Arc<Bucket<V>>| bucket.words.first().is_some_and(|first| first.as_str() <= word);
        match self.buckets.partition_point(begins_before) {
            0 => None,
            after => Some(after - 1),
        }
    }
}

fn find(words: &[SmolStr], word: &str) -> Result<usize, usize> {
    words.binary_search_by(|known| known.as_str().cmp(word))
}
